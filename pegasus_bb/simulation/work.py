"""What each node moves and computes, where a placement has the files.

A place is a number: that of its name in ``Speeds.places``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pegasus_bb.model.placement import PFS, PlacedFile, Placement
from pegasus_bb.model.run import Kind
from pegasus_bb.model.speeds import Speed, Speeds
from pegasus_bb.model.tiers import Tier
from pegasus_bb.simulation.outline import Node, Outline
from pegasus_bb.simulation.workload import Load, Sized

Moved = Sequence[tuple[int, int]]  # (place, bytes)


@dataclass(slots=True)
class Copy:
    source: int  # place
    dest: int
    size: int
    files: int


@dataclass(slots=True)
class Own:
    """A reservation of one job."""

    capacity: int  # bytes; 0: nothing is reserved
    by_batch_system: bool  # it stages, before and after the job has its slot
    stage_in: Sequence[Copy] = ()
    stage_out: Sequence[Copy] = ()


@dataclass(slots=True)
class Work:
    """Of one node."""

    reads: Moved = ()
    writes: Moved = ()
    opening: float = 0.0  # seconds to open its files
    folder: int = 0  # the place on which its operations count
    copies: Sequence[Copy] = ()  # of a staging node
    removes: Moved = ()  # (place, files)
    own: Own | None = None


class Places:
    """Equal works of tasks are one object."""

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
        """``task`` whose files are all on one place."""
        files = len(load.reads) + len(load.writes)
        key = (load.read, load.written, files, place)
        work = self._known.get(key)
        if work is None:
            reads = ((place, load.read),) if load.read else ()
            writes = ((place, load.written),) if load.written else ()
            opening = files * self.speeds[place].latency
            work = self._known[key] = Work(reads, writes, opening, place)
        return work

    def transient(self, load: Load, place: int, make: Callable[[], Own]) -> Work:
        """``task_on`` a reservation of its own."""
        key = (load.read, len(load.reads), load.written, len(load.writes), place)
        work = self._known.get(key)
        if work is None:
            work = replace(self.task_on(load, place), own=make())
            self._known[key] = work
        return work

    def _moved(self, files: Sized, at: Mapping[str, int]) -> tuple[Moved, float]:
        sizes: dict[int, int] = {}
        opening, speeds = 0.0, self.speeds
        for lfn, size in files:
            place = at[lfn]
            opening += speeds[place].latency
            if size:
                sizes[place] = sizes.get(place, 0) + size
        return tuple(sizes.items()), opening


def work_of_shared(
    outline: Outline, sizes: Mapping[str, int], placement: Placement, places: Places
) -> list[Work]:
    """Of all nodes, with files where ``placement`` has them: modes off, persistent,
    hybrid."""
    number = places.number
    at = {lfn: number[file.tier] for lfn, file in placement.files.items()}
    shared = number[placement.tier.name]
    job_place = number.get(placement.job_tier.name, shared)
    used = set(at.values())
    only = used.pop() if len(used) == 1 else None
    folder = places.pfs if only == places.pfs else shared
    found = []
    for node in outline.nodes:
        load = node.load
        if load is None:
            found.append(_auxiliary(node, placement.files, sizes, at, places.pfs))
            continue
        own = placement.job_reservations.get(load.job.id)
        if own is None:
            found.append(
                places.task(load, at, folder)
                if only is None
                else places.task_on(load, only)
            )
            continue
        here = (*own.stage_in, *own.stage_out, *own.share)
        there = {**_of(load, at), **dict.fromkeys(here, job_place)}
        work = replace(places.task(load, there, job_place))
        back = [_copy(own.stage_out, sizes, job_place, places.pfs)]
        back += [_copy(own.share, sizes, job_place, shared)]
        work.own = Own(
            own.capacity * placement.job_tier.is_reserved,
            placement.job_tier.is_staged,
            [_copy(own.stage_in, sizes, places.pfs, job_place)],
            back,
        )
        found.append(work)
    return found


def work_of_transient(
    outline: Outline,
    sizes: Mapping[str, int],
    placement: Placement,
    places: Places,
    capacity: Callable[[int], int],
) -> list[Work]:
    """As ``work_of_shared``, in mode transient: what a job uses of the tier comes to a
    reservation of its own, and goes back. ``capacity``: what it reserves for bytes."""
    tier, pfs = placement.tier, places.pfs
    there = places.number[tier.name]
    at = {lfn: pfs if f.tier == PFS else there for lfn, f in placement.files.items()}
    scratch = dict.fromkeys(at, pfs)
    found = []
    for node in outline.nodes:
        load = node.load
        if load is None:
            found.append(_auxiliary(node, placement.files, sizes, scratch, pfs))
            continue
        found.append(_with_own(load, at, there, placement.tier, places, capacity))
    return found


def _with_own(
    load: Load,
    at: Mapping[str, int],
    there: int,
    tier: Tier,
    places: Places,
    capacity: Callable[[int], int],
) -> Work:
    into = [size for lfn, size in load.reads if at[lfn] == there]
    out = [size for lfn, size in load.writes if at[lfn] == there]

    def own() -> Own:
        came = Copy(places.pfs, there, sum(into), len(into))
        went = Copy(there, places.pfs, sum(out), len(out))
        size = capacity(came.size + went.size) * tier.is_reserved
        return Own(size, tier.is_staged, (came,), (went,))

    if not into and not out:
        return places.task_on(load, places.pfs)
    if len(into) == len(load.reads) and len(out) == len(load.writes):
        return places.transient(load, there, own)
    return replace(places.task(load, at, there), own=own())


def _of(load: Load, at: Mapping[str, int]) -> dict[str, int]:
    return {lfn: at[lfn] for lfn, _ in (*load.reads, *load.writes)}


def _copy(lfns: Iterable[str], sizes: Mapping[str, int], source: int, to: int) -> Copy:
    found = [sizes.get(lfn, 0) for lfn in lfns]
    return Copy(source, to, sum(found), len(found))


def _auxiliary(
    node: Node,
    files: Mapping[str, PlacedFile],
    sizes: Mapping[str, int],
    at: Mapping[str, int],
    pfs: int,
) -> Work:
    there: dict[int, list[str]] = {}  # the place of the scratch -> files
    for lfn in node.lfns:
        if node.kind is not Kind.STAGE_IN or files[lfn].how == "copy":
            there.setdefault(at[lfn], []).append(lfn)
    if node.kind is Kind.CLEANUP:
        return Work(removes=[(place, len(lfns)) for place, lfns in there.items()])
    into = node.kind is Kind.STAGE_IN
    copies = [
        _copy(lfns, sizes, *((pfs, place) if into else (place, pfs)))
        for place, lfns in there.items()
    ]
    return Work(copies=copies)


def off(files: Mapping[str, PlacedFile], linked: Iterable[str]) -> Iterator[PlacedFile]:
    """All files on the PFS: inputs are copied to the scratch there, but ``linked``."""
    links = set(linked)
    for lfn, file in files.items():
        how = "link" if lfn in links or file.how == "link" else file.how
        yield PlacedFile(lfn, file.role, PFS, how, file.size, file.reason)
