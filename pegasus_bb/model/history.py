"""What an earlier run of a workflow has shown: how long tasks compute, what they read
and write, how large their files are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pegasus_bb.model.placement import PFS
from pegasus_bb.model.startup import Startup
from pegasus_bb.model.workflow import Job

_LONGEST = 1e9  # seconds; sums of such times are finite


@dataclass(frozen=True, slots=True)
class Past:
    """One task, or the median of several. ``None``: unknown."""

    duration: float  # seconds from start to exit
    user: float | None = None  # seconds of processor in the task itself
    read: int | None = None  # bytes, caches included
    written: int | None = None
    kernel: float | None = None  # seconds of processor in the kernel, for the task
    calls: int | None = None  # that read or wrote; pipes and terminals included
    metadata: int | None = None  # that open, close, ask for, sync or rename: Darshan's
    meta_time: float | None = None  # seconds in those, of all processes: Darshan's
    together: float | None = (
        None  # tasks that ran at a time with it, and it, on average
    )


@dataclass(frozen=True)
class History:
    """An earlier run, on one place; and others, which may be on another."""

    place: str = PFS  # the tier that held the scratch, or pfs
    jobs: Mapping[str, Past] = field(default_factory=dict)  # by id in the workflow
    transformations: Mapping[str, Past] = field(default_factory=dict)  # by full name
    programs: Mapping[str, Past] = field(default_factory=dict)  # by name alone
    sizes: Mapping[str, int] = field(default_factory=dict)  # bytes by LFN
    mode: str = "off"  # that it was in: off as well where it fell back to the PFS
    makespan: float | None = None  # seconds of the whole run, without the next
    wait: float | None = None  # seconds that its reservation was waited for, and came
    source: str = ""  # where the records are, for a person
    others: tuple[History, ...] = ()  # earlier runs besides this one
    startup: Startup | None = None  # None: no node of it tells

    @property
    def tells(self) -> bool:
        known = bool(self.jobs or self.transformations or self.programs)
        return known or any(other.tells for other in self.others)

    def pasts(self, job: str, transformation: str) -> list[tuple[str, Past]]:
        """What each run knows of ``job``, with the place where its files were."""
        found: list[tuple[str, Past]] = []
        for run in (self, *self.others):
            past = run._own(job, transformation)
            if past is not None:
                found.append((run.place, past))
        return found

    def of(self, job: str, transformation: str) -> Past | None:
        """What is known of ``job``: its own past, else that of its kind. The first run
        that knows it tells."""
        found = self.pasts(job, transformation)
        return found[0][1] if found else None

    def _own(self, job: str, transformation: str) -> Past | None:
        return (
            self.jobs.get(job)
            or self.transformations.get(transformation)
            or self.programs.get(transformation.rpartition("::")[2].partition(":")[0])
        )


def together(runs: Sequence[History]) -> History:
    """The first of ``runs``, with what the others know besides: nothing if empty."""
    if len(runs) < 2:
        return runs[0] if runs else History()
    sizes: dict[str, int] = {}
    for run in runs:
        for lfn, size in run.sizes.items():
            sizes[lfn] = max(size, sizes.get(lfn, 0))
    return replace(
        runs[0],
        sizes=sizes,
        wait=next((run.wait for run in runs if run.wait is not None), None),
        source=" and ".join(run.source for run in runs),
        others=tuple(runs[1:]),
    )


def declared(job: Job) -> Past | None:
    """What the job's own profile ``pegasus: runtime`` says, in seconds; None where that
    is no time that a task could take."""
    said = job.profile("pegasus", "runtime") if "profiles" in job.data else None
    try:
        seconds = float(said) if said else -1.0
    except ValueError:
        return None
    return Past(seconds) if 0 <= seconds <= _LONGEST else None  # nan is neither
