"""What each node moves, and on which place, where a placement has the files.

A place is a number: that of its name in ``Speeds.places``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pegasus_bb.forecast.workflow.outline import Outline, OutlineNode
from pegasus_bb.forecast.workflow.workload import JobLoad, Sized
from pegasus_bb.model.placement import PFS, JobReservation, Placement
from pegasus_bb.model.run import Kind
from pegasus_bb.model.speeds import REMOTE, Speed, Speeds

PlaceBytes = Sequence[tuple[int, int]]  # (place, bytes)
PlaceShares = Sequence[tuple[int, float]]  # (place, part of all)
THREADS = 2  # files that a staging node copies at the same time


@dataclass(slots=True)
class StorageCopy:
    source: int  # place
    dest: int
    size: int
    files: int
    longest: int = 0  # bytes of the busier of THREADS threads: a file has one thread


@dataclass(slots=True)
class OwnReservation:
    """A reservation of one job."""

    capacity: int  # bytes; 0: nothing is reserved
    by_batch_system: bool  # it stages, before and after the job has its slot
    stage_in: Sequence[StorageCopy]
    stage_out: Sequence[StorageCopy]


@dataclass(slots=True)
class Work:
    """What one node moves."""

    reads: PlaceBytes = ()
    writes: PlaceBytes = ()
    opening: float = 0.0  # seconds to open its files
    calls: PlaceShares = ()  # where its operations are; the shares add up to 1
    nodes: int = 1  # of the cluster, that a task runs on
    copies: Sequence[StorageCopy] = ()  # of a staging node
    removes: PlaceBytes = ()  # (place, files)
    own: OwnReservation | None = None


class Places:
    """The storage of a site. Equal works of tasks are one object."""

    def __init__(self, speeds: Speeds) -> None:
        self.number = {name: at for at, name in enumerate(speeds.places)}
        self.speeds: list[Speed] = list(speeds.places.values())
        self.pfs = self.number[PFS]
        self.remote = self.number.get(REMOTE, self.pfs)
        self._known: dict[tuple[object, ...], Work] = {}

    def task(self, load: JobLoad, at: Mapping[str, int], folder: int) -> Work:
        reads, opening = self._moved(load.reads, at)
        writes, more = self._moved(load.writes, at)
        calls = _call_shares((*load.reads, *load.writes), at, folder)
        key = (reads, writes, opening + more, calls, load.nodes)
        work = self._known.get(key)
        if work is None:
            work = self._known[key] = Work(*key)
        return work

    def task_on(self, load: JobLoad, place: int) -> Work:
        """Return ``task`` whose files are all on one place."""
        files = len(load.reads) + len(load.writes)
        key = (load.read, load.written, files, place, load.nodes)
        work = self._known.get(key)
        if work is None:
            reads = ((place, load.read),) if load.read else ()
            writes = ((place, load.written),) if load.written else ()
            opening = files * self.speeds[place].latency
            calls = ((place, 1.0),)
            work = Work(reads, writes, opening, calls, load.nodes)
            self._known[key] = work
        return work

    def transient(
        self, load: JobLoad, place: int, make: Callable[[], OwnReservation]
    ) -> Work:
        """Return ``task_on`` with a reservation of its own."""
        counts = len(load.reads), len(load.writes)
        key = (load.read, load.written, *counts, place, load.nodes)
        work = self._known.get(key)
        if work is None:
            work = replace(self.task_on(load, place), own=make())
            self._known[key] = work
        return work

    def _moved(self, files: Sized, at: Mapping[str, int]) -> tuple[PlaceBytes, float]:
        sizes: dict[int, int] = {}
        opening = 0.0
        speeds = self.speeds
        for lfn, size in files:
            place = at[lfn]
            opening += speeds[place].latency
            if size:
                sizes[place] = sizes.get(place, 0) + size
        return tuple(sizes.items()), opening


def _call_shares(files: Sized, at: Mapping[str, int], folder: int) -> PlaceShares:
    """Share the operations of a task between the places of its files: one half by their
    number, one by their bytes. The job's folder counts as a file."""
    count = {folder: 1}
    size: dict[int, int] = {}
    for lfn, own in files:
        place = at[lfn]
        count[place] = count.get(place, 0) + 1
        size[place] = size.get(place, 0) + own
    number = sum(count.values())
    whole = sum(size.values())
    if not whole:
        return tuple((place, of / number) for place, of in count.items())
    return tuple(
        (place, (of / number + size.get(place, 0) / whole) / 2)
        for place, of in count.items()
    )


@dataclass(frozen=True, slots=True)
class NodeWork:
    """The work of all nodes of ``outline``, where ``placement`` has the files."""

    outline: Outline
    sizes: Mapping[str, int]  # bytes by LFN, of those that are known
    placement: Placement
    places: Places
    remote: frozenset[str]  # inputs that come from other sites

    @property
    def on_tier(self) -> int:
        """The place that files of the tier are on."""
        return self.places.number[self.placement.tier.name]

    def shared(self) -> list[Work]:
        """Return it in modes off, persistent and hybrid."""
        placement = self.placement
        places = self.places
        at = {lfn: places.number[f.tier] for lfn, f in placement.files.items()}
        used = set(at.values())
        only = used.pop() if len(used) == 1 else None
        folder = places.pfs if only == places.pfs else self.on_tier
        found = []
        for node in self.outline.nodes:
            load = node.load
            if load is None:
                found.append(self._auxiliary(node, at))
            elif load.job.id in placement.job_reservations:
                own = placement.job_reservations[load.job.id]
                found.append(self._reserved(load, own, at))
            elif only is None:
                found.append(places.task(load, at, folder))
            else:
                found.append(places.task_on(load, only))
        return found

    def transient(self, capacity: Callable[[int], int]) -> list[Work]:
        """Return it in mode transient: what a job uses of the tier comes to a
        reservation of its own, and goes back. ``capacity``: what it reserves for
        bytes."""
        pfs = self.places.pfs
        there = self.on_tier
        files = self.placement.files.items()
        at = {lfn: pfs if file.tier == PFS else there for lfn, file in files}
        scratch = dict.fromkeys(at, pfs)
        return [
            self._auxiliary(node, scratch)
            if node.load is None
            else self._transient(node.load, at, capacity)
            for node in self.outline.nodes
        ]

    def _reserved(
        self, load: JobLoad, own: JobReservation, at: Mapping[str, int]
    ) -> Work:
        """Let the job work on its reservation, beside the shared one."""
        tier = self.placement.job_tier
        pfs = self.places.pfs
        shared = self.on_tier
        place = self.places.number.get(tier.name, shared)
        there = {lfn: at[lfn] for lfn, _ in (*load.reads, *load.writes)}
        for lfns in (own.stage_in, own.stage_out, own.share):
            there.update(dict.fromkeys(lfns, place))
        reservation = OwnReservation(
            own.capacity * tier.is_reserved,
            tier.is_staged,
            [self._copy(own.stage_in, pfs, place)],
            [
                self._copy(own.stage_out, place, pfs),
                self._copy(own.share, place, shared),
            ],
        )
        return replace(self.places.task(load, there, place), own=reservation)

    def _of_chain(
        self, load: JobLoad, own: JobReservation, at: Mapping[str, int]
    ) -> Work:
        """Let the tasks work on the disk of their node, one after the other. What is
        made and read there within the chain is neither brought nor saved."""
        work = self._reserved(load, own, at)
        if own.read or own.write:
            return work
        return replace(self.places.task_on(load, self.on_tier), own=work.own)

    def _transient(
        self, load: JobLoad, at: Mapping[str, int], capacity: Callable[[int], int]
    ) -> Work:
        if load.own is not None:
            return self._of_chain(load, load.own, at)
        tier = self.placement.tier
        places = self.places
        there = self.on_tier
        into = [size for lfn, size in load.reads if at[lfn] == there]
        out = [size for lfn, size in load.writes if at[lfn] == there]

        def own() -> OwnReservation:
            came = StorageCopy(places.pfs, there, sum(into), len(into))
            went = StorageCopy(there, places.pfs, sum(out), len(out))
            size = capacity(came.size + went.size) * tier.is_reserved
            return OwnReservation(size, tier.is_staged, (came,), (went,))

        if not into and not out:
            return places.task_on(load, places.pfs)
        if len(into) == len(load.reads) and len(out) == len(load.writes):
            return places.transient(load, there, own)
        return replace(places.task(load, at, there), own=own())

    def _auxiliary(self, node: OutlineNode, at: Mapping[str, int]) -> Work:
        files = self.placement.files
        places = self.places
        into = node.kind is Kind.STAGE_IN
        there: dict[tuple[int, int], list[str]] = {}  # (source, dest) -> files
        for lfn in node.lfns:
            far = places.remote if lfn in self.remote else places.pfs
            if not into or files[lfn].how == "copy" or far != places.pfs:
                ends = (far, at[lfn]) if into else (at[lfn], places.pfs)
                there.setdefault(ends, []).append(lfn)
        if node.kind is Kind.CLEANUP:
            return Work(
                removes=[(place, len(lfns)) for (place, _), lfns in there.items()]
            )
        return Work(copies=[self._copy(lfns, *ends) for ends, lfns in there.items()])

    def _copy(self, lfns: Iterable[str], source: int, dest: int) -> StorageCopy:
        found = [self.sizes.get(lfn, 0) for lfn in lfns]
        return StorageCopy(source, dest, sum(found), len(found), _busiest(found))


def _busiest(sizes: Sequence[int]) -> int:
    """Return the bytes of the busier thread, if each takes the next file when it has
    copied its own."""
    loads = [0] * THREADS
    for size in sizes:
        loads[loads.index(min(loads))] += size
    return max(loads)
