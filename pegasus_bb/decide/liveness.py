"""When files live on the tier, in levels of the graph, and the peak of their bytes.

A file is born when its stage-in or its maker starts, and dies when its clean-up has
ended. ``any_order`` is the upper bound over all legal orders of the jobs: the sum of
all files, also with in-place clean-up, because no job waits for a clean-up and all of
them may run last. ``planned_order`` is the peak if the jobs run level by level and
every clean-up ends before the next level begins, which only barriers (phases) enforce.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from pegasus_bb.decide.survey import program_users
from pegasus_bb.model.placement import PFS, Placement

if TYPE_CHECKING:
    from pegasus_bb.decide.decision import PlanningInput

REMOVES_FILES = ("inplace", "constraint")  # others remove the whole folder at the end
Lives = dict[str, tuple[int, int]]  # LFN -> first and last level, counted from 1


def live_in_levels(given: PlanningInput, placement: Placement) -> list[int]:
    """Return the bytes on the tier in each level, of files of known size, in
    ``planned_order``. Linear in jobs and files."""
    return live_bytes(*flow(lifetimes(placement), sizes(placement), given.levels))


def sizes(placement: Placement) -> dict[str, int]:
    """Bytes of the files on the tier; an unknown size counts as nothing."""
    return {f.lfn: f.size or 0 for f in placement.files.values() if f.tier != PFS}


def lifetimes(placement: Placement) -> Lives:
    """The levels in which each file on the tier lives."""
    files = placement.files.values()
    return {
        f.lfn: (f.cohort - f.lifetime + 1, f.cohort) for f in files if f.tier != PFS
    }


def lives_of(given: PlanningInput, lfns: Collection[str]) -> Lives:
    """The levels in which each of ``lfns`` would live on a tier of the site. Linear in
    jobs and files.

    A result is removed a level after its maker: planners put its clean-up, which waits
    for the stage-out, together with those of the next level.
    """
    graph = given.graph
    ending = given.ending
    end = given.levels
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for job in given.workflow:
        level = graph.level[job.id]
        for use in job.uses:
            lfn = use.lfn
            leaves = level
            if use.kind == "checkpoint":
                leaves = end  # no planner removes it
            elif use.kind == "output" and use.leaves:
                goes_soon = ending.delivered and not ending.late
                leaves = min(level + 1, end) if goes_soon else end
            if lfn not in first or level < first[lfn]:
                first[lfn] = level
            if leaves > last.get(lfn, 0):
                last[lfn] = leaves
    if any(lfn not in first for lfn in lfns):
        for lfn, users in program_users(given).items():
            levels = [graph.level[ident] for ident in users]
            first[lfn] = min(levels)
            last[lfn] = max(levels)
    goes = ending.cleanup in REMOVES_FILES
    return {
        lfn: (first.get(lfn, 1), last.get(lfn, end) if goes else end) for lfn in lfns
    }


def flow(
    lives: Mapping[str, tuple[int, int]], size: Mapping[str, int], levels: int
) -> tuple[list[int], list[int]]:
    """The bytes that are born and that die in each level; level 1 comes first."""
    born = [0] * levels
    dying = [0] * levels
    for lfn, (first, last) in lives.items():
        born[first - 1] += size[lfn]
        dying[last - 1] += size[lfn]
    return born, dying


def live_bytes(born: Sequence[int], dying: Sequence[int]) -> list[int]:
    """Return the bytes that are there in each level, if it ends with its clean-ups."""
    gone = accumulate(dying, initial=0)
    return [held - dead for held, dead in zip(accumulate(born), gone, strict=False)]


def phase_ends(
    born: Sequence[int], dying: Sequence[int], limit: int
) -> list[int] | None:
    """The ends of the fewest phases with at most ``limit`` bytes each, as numbers of
    levels. None if a single level has more.

    Clean-ups run at the end of their phase. The later a phase begins, the more has been
    removed, so adding level after level while there is space gives the fewest.
    """
    ends: list[int] = []
    held = done = 0
    for level, (more, less) in enumerate(zip(born, dying, strict=True)):
        if held + more > limit:
            ends.append(level)
            held = held - done
            done = 0
            if held + more > limit:
                return None
        held = held + more
        done = done + less
    return [*ends, len(born)]


def largest_phase(
    born: Sequence[int], dying: Sequence[int], ends: Iterable[int]
) -> int:
    """The bytes of the largest of the phases with these ``ends``."""
    most = held = begin = 0
    for end in ends:
        held += sum(born[begin:end])
        most = max(most, held)
        held -= sum(dying[begin:end])
        begin = end
    return most
