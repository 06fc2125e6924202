"""Files that together are more than the capacity that was asked for: how they fit.

With in-place clean-up the jobs may run in phases, each of which waits for the clean-ups
of the one before. Where that is not enough, or nothing is removed while the workflow
runs, some files have to go to the PFS: those that tasks read and write the least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from typing import NamedTuple

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import PFS, Fit, Placed, Placement
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.executables import program_users
from pegasus_bb.placement.liveness import (
    Ending,
    Lives,
    cut,
    flow,
    fullest,
    lifetimes,
    sizes,
)
from pegasus_bb.placement.sizing import too_small, unknown_sizes, wanted_capacity
from pegasus_bb.units import format_size

# Barriers hold in any order of the jobs only where they are ours: in-place alone.
PHASED = "inplace"


def fitted(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    settings: Settings,
    placement: Placement,
    ending: Ending,
) -> tuple[Placement, int]:
    """``placement`` with its ``fit``, and the bytes that the tier has to hold.

    Raises CatalogError where a size is unknown, where what the user has pinned to the
    tier does not fit, and where there are sub-workflows: nobody knows their files.
    """
    tier = placement.tier
    limit = wanted_capacity(tier, settings)
    if placement.unknown:
        raise unknown_sizes(catalogs, tier, settings, placement.unknown)
    if any(job.kind != "job" for job in workflow.jobs.values()):
        raise too_small(catalogs, tier, settings, placement.need)
    phased = ending.cleanup == PHASED
    ends = ending if phased else Ending("none")
    lives = lifetimes(workflow, graph, catalogs.transformations, placement, ends)
    levels = max(graph.level.values()) if phased else 1
    if not phased:
        lives = dict.fromkeys(lives, (1, 1))
    fit = _phases(placement, lives, levels, limit)
    if fit is not None:
        return replace(placement, fit=fit), fit.peak
    room = _room(placement, lives, levels, limit)
    if min(room) < 0:
        need = limit - min(room)
        pinned = " by rules of their own"
        raise too_small(catalogs, tier, settings, need, pinned)
    kept = _keep(_candidates(workflow, graph, catalogs, placement, lives), room)
    stays = placement.pinned.union(each.lfn for each in kept)
    smaller = _with_moved(placement, stays, limit)
    left = {lfn: life for lfn, life in lives.items() if smaller.on_tier(lfn)}
    fit = _phases(smaller, left, levels, limit)
    assert fit is not None  # noqa: S101 - no level has more than the limit
    moved = tuple(lfn for lfn in lives if not smaller.on_tier(lfn))
    fit = replace(fit, moved=moved, benefit=sum(each.benefit for each in kept))
    return replace(smaller, fit=fit), fit.peak


def _phases(placement: Placement, lives: Lives, levels: int, limit: int) -> Fit | None:
    born, dying = flow(lives, sizes(placement), levels)
    ends = cut(born, dying, limit)
    return None if ends is None else Fit(limit, tuple(ends), fullest(born, dying, ends))


def _room(placement: Placement, lives: Lives, levels: int, limit: int) -> list[int]:
    """What the pinned files leave in each level."""
    pinned = {lfn: lives[lfn] for lfn in placement.pinned}
    born, dying = flow(pinned, sizes(placement), levels)
    room, held = [], 0
    for more, less in zip(born, dying, strict=True):
        held += more
        room.append(limit - held)
        held -= less
    return room


class _Candidate(NamedTuple):
    """A file that may stay on the tier or move to the PFS."""

    lfn: str
    size: int  # bytes
    uses: int  # how often tasks read or write it
    first: int  # level, counted from 1
    last: int

    @property
    def benefit(self) -> int:
        """The bytes that tasks read and write."""
        return self.size * self.uses

    @property
    def rank(self) -> tuple[float, int]:
        """The benefit for each byte and level, the best first; then the size."""
        return -self.uses / (self.last - self.first + 1), -self.size


def _keep(candidates: Iterable[_Candidate], room: list[int]) -> list[_Candidate]:
    """The files that stay: the best first, each where its levels have room for it."""
    left, kept = list(room), []
    for each in sorted(candidates, key=lambda each: each.rank):
        levels = slice(each.first - 1, each.last)
        if min(left[levels]) >= each.size:
            left[levels] = [there - each.size for there in left[levels]]
            kept.append(each)
    return kept


def _candidates(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    placement: Placement,
    lives: Lives,
) -> Iterator[_Candidate]:
    """The files that no narrower rule keeps on the tier."""
    site = placement.tier.site
    programs = program_users(workflow, catalogs.transformations, site)
    for lfn, (first, last) in lives.items():
        file = placement.files[lfn]
        if lfn not in placement.pinned:
            readers = graph.consumers.get(lfn) or programs.get(lfn) or []
            uses = len(readers) + (file.how == "write")
            yield _Candidate(lfn, file.size or 0, uses, first, last)


def _with_moved(placement: Placement, stays: Set[str], limit: int) -> Placement:
    files: dict[str, Placed] = {}
    why = f"capacity is short ({format_size(limit)}): others are read and written more"
    for lfn, file in placement.files.items():
        goes = file.tier != PFS and lfn not in stays
        files[lfn] = replace(file, tier=PFS, reason=why) if goes else file
    need = sum(f.size or 0 for f in files.values() if f.tier != PFS)
    return replace(placement, files=files, need=need)
