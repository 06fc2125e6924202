"""What each node moves, where a placement has the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from pegasus_bb.forecast.workflow.moved_files import Copy, OwnReservation, Places, Work
from pegasus_bb.forecast.workflow.outline import Outline, OutlineNode
from pegasus_bb.forecast.workflow.workload import Load
from pegasus_bb.model.placement import PFS, PlacedFile, Placement
from pegasus_bb.model.run import Kind
from pegasus_bb.model.tiers import Tier


def work_of_shared(
    outline: Outline, sizes: Mapping[str, int], placement: Placement, places: Places
) -> list[Work]:
    """Return the work of all nodes, with files where ``placement`` has them: modes off,
    persistent, hybrid."""
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
        work.own = OwnReservation(
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
    """Do as ``work_of_shared`` in mode transient: what a job uses of the tier comes to
    a reservation of its own, and goes back. ``capacity``: what it reserves for
    bytes."""
    tier = placement.tier
    pfs = places.pfs
    there = places.number[tier.name]
    at = {lfn: pfs if f.tier == PFS else there for lfn, f in placement.files.items()}
    scratch = dict.fromkeys(at, pfs)
    found = []
    for node in outline.nodes:
        load = node.load
        if load is None:
            found.append(_auxiliary(node, placement.files, sizes, scratch, pfs))
            continue
        found.append(
            _with_own(
                load, at, there, tier=placement.tier, places=places, capacity=capacity
            )
        )
    return found


def _with_own(
    load: Load,
    at: Mapping[str, int],
    there: int,
    *,
    tier: Tier,
    places: Places,
    capacity: Callable[[int], int],
) -> Work:
    into = [size for lfn, size in load.reads if at[lfn] == there]
    out = [size for lfn, size in load.writes if at[lfn] == there]

    def own() -> OwnReservation:
        came = Copy(places.pfs, there, sum(into), len(into))
        went = Copy(there, places.pfs, sum(out), len(out))
        size = capacity(came.size + went.size) * tier.is_reserved
        return OwnReservation(size, tier.is_staged, (came,), (went,))

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
    node: OutlineNode,
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
    """Put all files on the PFS: inputs are copied to the scratch there, but
    ``linked``."""
    links = set(linked)
    for lfn, file in files.items():
        how = "link" if lfn in links or file.how == "link" else file.how
        yield PlacedFile(lfn, file.role, PFS, how, file.size, file.reason)
