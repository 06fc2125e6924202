"""What a node moves, and on which place.

A place is a number: that of its name in ``Speeds.places``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pegasus_bb.forecast.workflow.workload import Load, Sized
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.speeds import Speed, Speeds

Moved = Sequence[tuple[int, int]]  # (place, bytes)


@dataclass(slots=True)
class Copy:
    source: int  # place
    dest: int
    size: int
    files: int


@dataclass(slots=True)
class OwnReservation:
    """A reservation of one job."""

    capacity: int  # bytes; 0: nothing is reserved
    by_batch_system: bool  # it stages, before and after the job has its slot
    stage_in: Sequence[Copy] = ()
    stage_out: Sequence[Copy] = ()


@dataclass(slots=True)
class Work:
    """What one node moves."""

    reads: Moved = ()
    writes: Moved = ()
    opening: float = 0.0  # seconds to open its files
    folder: int = 0  # the place on which its operations count
    copies: Sequence[Copy] = ()  # of a staging node
    removes: Moved = ()  # (place, files)
    own: OwnReservation | None = None


class Places:
    """The storage of a site. Equal works of tasks are one object."""

    def __init__(self, speeds: Speeds) -> None:
        self.number = {name: at for at, name in enumerate(speeds.places)}
        self.speeds: list[Speed] = list(speeds.places.values())
        self.pfs = self.number[PFS]
        self._known: dict[tuple[object, ...], Work] = {}

    def task(self, load: Load, at: Mapping[str, int], folder: int) -> Work:
        reads, opening = self._moved(load.reads, at)
        writes, more = self._moved(load.writes, at)
        key = (reads, writes, opening + more, folder)
        work = self._known.get(key)
        if work is None:
            work = self._known[key] = Work(*key)
        return work

    def task_on(self, load: Load, place: int) -> Work:
        """Return ``task`` whose files are all on one place."""
        files = len(load.reads) + len(load.writes)
        key = (load.read, load.written, files, place)
        work = self._known.get(key)
        if work is None:
            reads = ((place, load.read),) if load.read else ()
            writes = ((place, load.written),) if load.written else ()
            opening = files * self.speeds[place].latency
            work = self._known[key] = Work(reads, writes, opening, place)
        return work

    def transient(
        self, load: Load, place: int, make: Callable[[], OwnReservation]
    ) -> Work:
        """Return ``task_on`` with a reservation of its own."""
        key = (load.read, len(load.reads), load.written, len(load.writes), place)
        work = self._known.get(key)
        if work is None:
            work = replace(self.task_on(load, place), own=make())
            self._known[key] = work
        return work

    def _moved(self, files: Sized, at: Mapping[str, int]) -> tuple[Moved, float]:
        sizes: dict[int, int] = {}
        opening = 0.0
        speeds = self.speeds
        for lfn, size in files:
            place = at[lfn]
            opening += speeds[place].latency
            if size:
                sizes[place] = sizes.get(place, 0) + size
        return tuple(sizes.items()), opening
