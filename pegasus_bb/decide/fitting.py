"""Fits files into a given capacity that is below their sum.

With in-place clean-up the jobs may run in phases, each of which waits for the clean-ups
of the phase before. If that is not enough, or if no file is removed during the run, the
files that tasks read and write the least go to the PFS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from typing import NamedTuple

from pegasus_bb.core.units import format_size
from pegasus_bb.decide.decision import MovedFiles, PlacementDecision, PlanningInput
from pegasus_bb.decide.liveness import (
    Lives,
    flow,
    largest_phase,
    lifetimes,
    phase_ends,
    sizes,
)
from pegasus_bb.decide.sizing import too_small, unknown_sizes, wanted_capacity
from pegasus_bb.decide.survey import program_users
from pegasus_bb.model.placement import PFS, PlacedFile, Placement, PlannedPhases

# Only this clean-up lets us order its nodes, so only with it can barriers hold.
PHASED = "inplace"


def fit_into_capacity(
    given: PlanningInput, decision: PlacementDecision
) -> tuple[PlacementDecision, int]:
    """``decision`` with its phases, and the bytes that the tier has to hold.

    Raises CatalogError if a size is unknown, if files that the user pinned to the tier
    do not fit, and for sub-workflows, whose files are unknown.
    """
    placement, tier = decision.placement, decision.placement.tier
    limit = wanted_capacity(tier, given.settings)
    if placement.unknown:
        raise unknown_sizes(given, tier, placement.unknown, placement.need)
    if given.has_sub_workflows:
        raise too_small(given, tier, placement.need)
    phased = given.ending.cleanup == PHASED
    levels = given.levels if phased else 1
    whole: Lives = dict.fromkeys(sizes(placement), (1, 1))
    lives = lifetimes(placement) if phased else whole
    phases = _phases(placement, lives, levels, limit)
    if phases is not None:
        fits = replace(placement, phases=phases)
        return replace(decision, placement=fits), phases.peak
    free = _free(decision, lives, levels, limit)
    if min(free) < 0:
        pinned = " by rules of their own"
        raise too_small(given, tier, limit - min(free), pinned)
    return _move_files(given, decision, lives, free, limit)


def _move_files(
    given: PlanningInput,
    decision: PlacementDecision,
    lives: Lives,
    free: list[int],
    limit: int,
) -> tuple[PlacementDecision, int]:
    kept = _keep(_candidates(given, decision, lives), free)
    stays = decision.pinned.union(each.lfn for each in kept)
    smaller = _with_moved(decision.placement, stays, limit)
    left = {lfn: life for lfn, life in lives.items() if smaller.on_tier(lfn)}
    phases = _phases(smaller, left, len(free), limit)
    if phases is None:  # no level has more than the limit
        raise too_small(given, smaller.tier, smaller.need)
    lfns = tuple(lfn for lfn in lives if lfn not in left)
    moved = MovedFiles(lfns, benefit=sum(each.benefit for each in kept))
    fits = replace(smaller, phases=phases)
    rules = decision.persistent or decision
    fitted = replace(decision, placement=fits, moved=moved, persistent=rules)
    return fitted, phases.peak


def _phases(
    placement: Placement, lives: Lives, levels: int, limit: int
) -> PlannedPhases | None:
    born, dying = flow(lives, sizes(placement), levels)
    ends = phase_ends(born, dying, limit)
    if ends is None:
        return None
    return PlannedPhases(limit, tuple(ends), largest_phase(born, dying, ends))


def _free(
    decision: PlacementDecision, lives: Lives, levels: int, limit: int
) -> list[int]:
    pinned = {lfn: lives[lfn] for lfn in decision.pinned}
    born, dying = flow(pinned, sizes(decision.placement), levels)
    free, held = [], 0
    for more, less in zip(born, dying, strict=True):
        held += more
        free.append(limit - held)
        held -= less
    return free


class Candidate(NamedTuple):
    """A file that may stay on the tier or move to the PFS."""

    lfn: str
    size: int  # bytes
    uses: int  # how often tasks read or write it
    first: int  # level, counted from 1
    last: int

    @property
    def benefit(self) -> int:
        return self.size * self.uses

    @property
    def rank(self) -> tuple[float, int]:
        """For sorting, best first: the benefit per byte and level, then the size."""
        return -self.uses / (self.last - self.first + 1), -self.size


def _keep(candidates: Iterable[Candidate], free: list[int]) -> list[Candidate]:
    """The files that stay: the best first, each if all its levels have space."""
    left, kept = list(free), []
    for each in sorted(candidates, key=lambda each: each.rank):
        levels = slice(each.first - 1, each.last)
        if min(left[levels]) >= each.size:
            left[levels] = [there - each.size for there in left[levels]]
            kept.append(each)
    return kept


def _candidates(
    given: PlanningInput, decision: PlacementDecision, lives: Lives
) -> Iterator[Candidate]:
    placement, catalog = decision.placement, given.catalogs.transformations
    programs = program_users(given.workflow, catalog, placement.tier.site)
    for lfn, (first, last) in lives.items():
        file = placement.files[lfn]
        if lfn not in decision.pinned:
            readers = given.graph.consumers.get(lfn) or programs.get(lfn) or []
            uses = len(readers) + (file.how == "write")
            yield Candidate(lfn, file.size or 0, uses, first, last)


def _with_moved(placement: Placement, stays: Set[str], limit: int) -> Placement:
    files: dict[str, PlacedFile] = {}
    why = f"capacity is short ({format_size(limit)}): others are read and written more"
    for lfn, file in placement.files.items():
        goes = file.tier != PFS and lfn not in stays
        files[lfn] = replace(file, tier=PFS, reason=why) if goes else file
    return replace(placement, files=files)
