"""Mode hybrid: which jobs get a reservation: those for which less is reserved.

A job reservation takes whole granules. For small files it may cost more than it saves
on the shared reservation, which lasts longer, but has one rounding for all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from math import inf
from typing import NamedTuple

from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.decision import PlacementDecision, Selection
from pegasus_bb.placement.durations import Durations


class Candidate(NamedTuple):
    """A job that could have a reservation, with the LFNs of what it makes."""

    job: str
    private: Collection[str]  # that no other job reads
    share: Collection[str]  # that others read, or that the user wants on the tier
    write: Collection[str]  # that live on the PFS
    saved: int  # bytes of those that are private
    need: int  # and of those that are shared
    capacity: int  # of the job reservation
    duration: float  # how long it is kept
    reserved: int  # all of ``capacity``, or nothing: on a disk of the node

    @property
    def rank(self) -> tuple[float, int]:
        """What it saves for what it costs; if it costs nothing, what it saves."""
        cost = self.reserved * self.duration
        return (self.saved / cost, 0) if cost else (inf, self.saved)


def split_named(
    decision: PlacementDecision, found: Iterable[Candidate]
) -> tuple[list[Candidate], list[Candidate]]:
    """Those with a file that the user wants in a job reservation, and all others."""
    named: list[Candidate] = []
    others: list[Candidate] = []
    for each in found:
        wanted = not decision.for_jobs.isdisjoint(each.private)
        (named if wanted else others).append(each)
    return named, others


def check_named(
    workflow: Workflow, decision: PlacementDecision, named: Iterable[Candidate]
) -> None:
    """Raises CatalogError if a job cannot have the reservation that the user wants."""
    lost = decision.for_jobs.difference(*(each.private for each in named))
    for job in workflow.jobs.values() if lost else ():
        for place, use in enumerate(job.uses):
            if use.lfn in lost and use.kind != "input":
                why = decision.placement.files[use.lfn].reason
                raise workflow.document.error(
                    f"job {job.id} ({job.transformation}) cannot have a reservation of "
                    f"its own for {use.lfn}: {why}",
                    ["jobs", job.index, "uses", place],
                    use.lfn,
                    "a job of one node, with files of known sizes that have room "
                    "there, without a checkpoint and without reading what it makes; "
                    "results that are staged out (--output-sites); no sub-workflows",
                )


def job_reservation_selection(
    candidates: Sequence[Candidate],
    needs: tuple[int, int],
    reserve: Callable[[int], int],
    durations: Durations,
    together: bool = True,
) -> tuple[Sequence[Candidate], Selection]:
    """The jobs that get a reservation, and the figures. O(n log n).

    ``needs`` are the bytes on the tier in mode persistent, and now without any job
    reservation; ``reserve`` says how much is reserved for so many. The best ratio comes
    first, and as many are taken as make the least of all, which is never more than with
    none. With all reservations ``together`` on one tier, the shared one and the largest
    other never take more than what mode persistent reserves: a tier with room for that
    has room for these.
    """
    whole, left = reserve(needs[0]), needs[1]
    ranked = sorted(candidates, key=lambda c: c.rank, reverse=True)
    taken, shared, of_jobs = 0, reserve(left), 0.0
    least, cost, largest = shared * durations.shared, 0.0, 0
    for number, candidate in enumerate(ranked, start=1):
        left -= candidate.saved
        cost += candidate.reserved * candidate.duration
        largest = max(largest, candidate.reserved if together else 0)
        rest = reserve(left)
        if rest * durations.shared + cost < least and rest + largest <= whole:
            taken, shared, of_jobs = number, rest, cost
            least = rest * durations.shared + cost
    return ranked[:taken], Selection(
        unit=durations.unit,
        span=durations.shared,
        persistent=whole * durations.shared,
        shared=shared * durations.shared,
        job_reservations=of_jobs,
        asked=len(ranked),
    )
