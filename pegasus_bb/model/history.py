"""What earlier runs of a workflow have recorded: the run time and the I/O of tasks, and
the sizes of files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pegasus_bb.model.modes import OFF
from pegasus_bb.model.placement import PFS

if TYPE_CHECKING:
    from pegasus_bb.model.growth import Growth, Sized

_LONGEST = 1e9  # seconds; sums of such times are finite


@dataclass(frozen=True, slots=True)
class Past:
    """The record of one task, or the median of several. ``None``: unknown."""

    duration: float  # seconds from start to exit
    user: float | None = None  # CPU seconds in user mode
    read: int | None = None  # bytes, caches included
    written: int | None = None
    kernel: float | None = None  # CPU seconds in the kernel
    calls: int | None = None  # reads and writes, also of pipes and terminals
    metadata: int | None = None  # calls that open, close, stat, sync, rename: Darshan's
    meta_time: float | None = None  # seconds in those, of all processes: Darshan's
    concurrency: float | None = None  # tasks that ran at the same time, on average
    made: int | None = None  # bytes of its outputs, as planning knew them if it did
    # The part of its time that does not grow with its files.
    fixed: float | None = None

    @property
    def computing(self) -> float:
        """Seconds on the wall of its user time, which counts for each core."""
        if not self.user or self.duration <= 0:
            return 0.0
        return self.user / max(1, math.ceil(self.user / self.duration))

    def resized(self, growth: Growth, fixed: float = 0.0) -> Past:
        """The record of such a task with as much larger files: what it did grows as
        they do, but for its fixed part; that is ``fixed`` if unknown."""
        if growth.is_none:
            return self
        # What tasks of one run show is of all their bytes.
        more = growth.work if self.fixed is None else growth.size
        fixed = fixed if self.fixed is None else self.fixed
        if growth.fixed is not None:
            more, fixed = growth.work, growth.fixed
        longer = fixed + (1 - fixed) * more
        return replace(
            self,
            duration=self.duration * longer,
            user=_times(self.user, longer),
            kernel=_times(self.kernel, longer),
            meta_time=_times(self.meta_time, longer),
            read=_whole(self.read, growth.size),
            written=_whole(self.written, growth.size),
            calls=_whole(self.calls, longer),
            made=_whole(self.made, growth.size),
        )


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _whole(value: int | None, factor: float) -> int | None:
    return None if value is None else round(value * factor)


@dataclass(frozen=True, slots=True)
class Startup:
    """The overhead of a job around its task, in seconds. The defaults are those of
    the local engine on two idle cores."""

    queue: float = 0.0  # from ready until a job has its slot
    job: float = 0.1  # in the slot, around a task: shell, launcher and recorder
    own: float = 0.2  # in the slot, an auxiliary job without its transfers


DEFAULT_STARTUP = Startup()


@dataclass(frozen=True)
class History:
    """An earlier run, and others, which may have used other storage."""

    place: str = PFS  # the tier that held the scratch, or pfs
    jobs: Mapping[str, Past] = field(default_factory=dict)  # by id in the workflow
    # Of those jobs, by id. The id of a job without one may be that of any.
    kinds: Mapping[str, str] = field(default_factory=dict)
    transformations: Mapping[str, Past] = field(default_factory=dict)  # by full name
    programs: Mapping[str, Past] = field(default_factory=dict)  # by name alone
    sizes: Mapping[str, int] = field(default_factory=dict)  # bytes by LFN
    planned_sizes: Mapping[str, int] = field(default_factory=dict)  # before the run
    # The most bytes of temporary files, by job and by transformation.
    temporary: Mapping[str, int] = field(default_factory=dict)
    brought: int | None = None  # bytes that staging in copied; None: unknown
    mode: str = OFF.name  # of the run; off as well if it fell back to the PFS
    makespan: float | None = None  # seconds of the run, without ``wait``
    wait: float | None = None  # seconds until its reservation was ready
    source: str = ""  # where the records are, for a person
    # Which run it is, and how far it had come; empty where unknown.
    state_id: str = ""
    had_retries: bool = False  # so its makespan is not that of a run without
    others: tuple[History, ...] = ()  # earlier runs besides this one
    startup: Startup | None = None  # None: unknown
    at_once: int | None = None  # most tasks that ran at the same time
    chains: tuple[int, ...] = ()  # the jobs of each chain, the most first

    @property
    def has_times(self) -> bool:
        known = bool(self.jobs or self.transformations or self.programs)
        return known or any(other.has_times for other in self.others)

    @cached_property
    def largest_sizes(self) -> Mapping[str, int]:
        """Bytes by LFN: the most of all runs."""
        largest = dict(self.sizes)
        for run in self.others:
            for lfn, size in run.sizes.items():
                largest[lfn] = max(size, largest.get(lfn, 0))
        return largest

    def pasts(
        self,
        job: str,
        transformation: str,
        files: Sized = (),
        made: Sized = (),
        fixed: float = 0.0,
    ) -> list[tuple[str, Past]]:
        """The place and the record of ``job`` in each run that has one, as it would be
        with these ``files``, of which it makes ``made``. ``fixed``: the part of its
        time that does not grow with them, if unknown."""
        runs = [(run, run._own(job, transformation)) for run in (self, *self.others)]
        known = [(run, past) for run, past in runs if past is not None]
        if not files or not known:
            return [(run.place, past) for run, past in known]
        from pegasus_bb.model.growth import Then, growths  # slow to load

        found: list[tuple[str, Past]] = []
        for place in dict.fromkeys(run.place for run, _ in known):
            some = [(run, past) for run, past in known if run.place == place]
            thens = [Then(r._sizes_then(files), p.made, p.duration) for r, p in some]
            more = growths(thens, files, made)
            grown = zip(some, more, strict=True)
            found += [(place, past.resized(each, fixed)) for (_, past), each in grown]
        return found

    def of(self, job: str, transformation: str) -> Past | None:
        """The record of ``job``, else of its transformation, in the first run with
        one."""
        pasts = self.pasts(job, transformation)
        return pasts[0][1] if pasts else None

    def temporary_of(self, job: str, transformation: str) -> int:
        """The most bytes of temporary files that a run has seen; 0 if none has."""
        runs = (self, *self.others)
        return max(run._temporary_of(job, transformation) for run in runs)

    def _temporary_of(self, job: str, transformation: str) -> int:
        known = self.temporary
        of_kind = known.get(transformation, 0)
        return known.get(job, of_kind) if self._is(job, transformation) else of_kind

    def _sizes_then(self, files: Sized) -> dict[str, int]:
        """Bytes by LFN of those ``files`` that it knows. Sizes that planning knew then
        compare best with those that it knows now."""
        found = {}
        for lfn, _ in files:
            size = self.planned_sizes.get(lfn, self.sizes.get(lfn))
            if size is not None:
                found[lfn] = size
        return found

    def _is(self, job: str, transformation: str) -> bool:
        """Whether its ``job`` may be that one: other workflows have the same ids."""
        kind = self.kinds.get(job, "")
        return not kind or _program(kind) == _program(transformation)

    def _own(self, job: str, transformation: str) -> Past | None:
        own = self.jobs.get(job) if self._is(job, transformation) else None
        return (
            own
            or self.transformations.get(transformation)
            or self.programs.get(_program(transformation))
        )


def _program(transformation: str) -> str:
    """Return its name without a namespace and a version."""
    return transformation.rpartition("::")[2].partition(":")[0]


def combine(runs: Sequence[History]) -> History:
    """The first of ``runs`` with the others attached."""
    if len(runs) < 2:
        return runs[0] if runs else History()
    return replace(
        runs[0],
        wait=next((run.wait for run in runs if run.wait is not None), None),
        source=" and ".join(run.source for run in runs),
        others=tuple(runs[1:]),
    )


def most_at_once(history: History) -> int | None:
    """Most tasks that ran at the same time in any of its runs; None if unknown."""
    runs = (history, *history.others)
    return max((run.at_once for run in runs if run.at_once), default=None)


def declared_past(text: str | None) -> Past | None:
    """The run time of a job by its profile ``pegasus: runtime``, in seconds; None if it
    has none, or no plausible time."""
    try:
        seconds = float(text) if text else -1.0
    except ValueError:
        return None
    return Past(seconds) if 0 <= seconds <= _LONGEST else None  # False for nan
