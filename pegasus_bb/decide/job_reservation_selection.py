"""Mode hybrid: selects the jobs whose reservations reduce the total reserved.

A task writes all its files to its job reservation. Files that other jobs read are
copied to the shared reservation when the task has ended, so the job reservation has to
hold them as well. Inputs, and files that the user wants on the PFS, are links there.

A job reservation takes whole granules. For small files it may cost more than it saves
on the shared reservation, which lasts longer but is rounded only once.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from pegasus_bb.decide.decision import PlacementDecision, PlanningInput, Selection
from pegasus_bb.decide.job_reservations import temporary_files
from pegasus_bb.decide.lint_job_reservations import MOST_FILES, several_nodes
from pegasus_bb.decide.run_times import job_spans, known_times
from pegasus_bb.decide.sizing import automatic_capacity, quota_of
from pegasus_bb.decide.survey import INPUT, OUTPUT, staged_with
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import PFS, JobReservation, Placement
from pegasus_bb.model.workflow import Job

STAGING = 60.0  # seconds for which a reservation is filled, or emptied


@dataclass(frozen=True, slots=True)
class Durations:
    """In ``unit``: seconds, or levels if no task's run time is known."""

    unit: str
    shared: float  # the least duration of the shared reservation
    jobs: Mapping[str, float]  # job id -> duration of its job reservation


def durations(given: PlanningInput) -> Durations:
    """Durations from the run times of an earlier run or of the profile ``runtime``;
    other tasks get the median. Linear in the workflow, but for that median.

    A job reservation is emptied after its task. The shared reservation is filled before
    the longest chain of jobs and emptied after it. With fewer slots than jobs it lasts
    longer, so a job reservation saves at least this much.
    """
    graph = given.graph
    known = known_times(given)
    if not known:  # each job and each staging takes a level
        return Durations("levels", given.levels + 2.0, dict.fromkeys(graph.level, 2.0))
    spans = job_spans(graph, known)
    each = {ident: end - begin + STAGING for ident, (begin, end) in spans.items()}
    whole = max(end for _, end in spans.values())
    return Durations("seconds", whole + 2 * STAGING, each)


class JobCandidate(NamedTuple):
    job: str
    reservation: JobReservation  # its ``stage_out`` are files that no other job reads
    saved: int  # bytes of these
    duration: float  # how long the reservation is kept
    reserved: int  # all of its capacity, or nothing: on a disk of the node

    @property
    def rank(self) -> tuple[float, int]:
        """Savings per cost; if the reservation costs nothing, the savings."""
        cost = self.reserved * self.duration
        return (self.saved / cost, 0) if cost else (inf, self.saved)


def find_candidates(
    given: PlanningInput, placement: Placement, pinned: Set[str], lasts: Durations
) -> Iterator[JobCandidate]:
    """In the order of the workflow; none with sub-workflows, whose files are unknown.

    Linear in the uses of all jobs. Jobs that a reservation cannot serve are left out:
    with a file of unknown size, or one named twice; a checkpoint; too many files for
    DataWarp's staging; more bytes than the quota of a job; or several nodes if a
    reservation is on one.
    """
    tier = placement.job_tier
    graph = given.graph
    quota = quota_of(tier) if not tier.is_reserved else None
    private = {} if given.has_sub_workflows else _private(given, placement, pinned)
    temporary = temporary_files(given, tier)
    most = MOST_FILES if tier.is_staged else len(private)
    catalog = given.catalogs.transformations
    programs = staged_with(given.workflow, catalog, tier.site)
    makers = {graph.producer[lfn]: None for lfn in private if lfn in graph.producer}
    for ident in makers:
        job = given.workflow.jobs[ident]
        if not job.runs_on(tier.site):
            continue
        own = _reservation(job, graph, placement, private)
        if own is None or len(own.stage_out) > most:
            continue
        own.need += temporary(job)
        headroom = given.settings.headroom
        own.capacity = automatic_capacity(tier, headroom, own.need)
        if quota is not None and own.capacity > quota:
            continue
        if tier.is_of_one_node and several_nodes(given, job):
            continue
        read = (*own.read, *programs[job.transformation])
        own.read = tuple(dict.fromkeys(read))
        saved = sum(placement.files[lfn].size or 0 for lfn in own.stage_out)
        reserved = own.capacity if tier.is_reserved else 0
        yield JobCandidate(ident, own, saved, lasts.jobs[ident], reserved)


def _private(
    given: PlanningInput, placement: Placement, pinned: Set[str]
) -> dict[str, None]:
    """Files on the tier that no other job than their maker reads. Results that are not
    staged out are left out: planning refuses them on the tier, and a job reservation
    must not hide that."""
    graph = given.graph
    ending = given.ending
    return {
        file.lfn: None
        for file in placement.files.values()
        if file.role != INPUT
        and file.tier != PFS
        and file.lfn not in graph.consumers
        and file.lfn not in pinned
        and (ending.delivered or file.role != OUTPUT)
    }


def _reservation(
    job: Job, graph: Graph, placement: Placement, private: Collection[str]
) -> JobReservation | None:
    """The reservation of ``job``, without a capacity; None if it cannot serve the
    job."""
    read: dict[str, None] = {}
    out: dict[str, None] = {}
    share: dict[str, None] = {}
    write: dict[str, None] = {}
    need = 0
    for use in job.uses:
        lfn = use.lfn
        if use.kind == "input":
            if graph.producer.get(lfn) == job.id:
                return None  # the task reads a file that it makes
            read[lfn] = None
            continue
        file = placement.files[lfn]
        if use.kind == "checkpoint":
            return None  # a later try has to find it
        if file.tier == PFS:
            write[lfn] = None
        elif file.size is None or lfn in out or lfn in share:
            return None
        else:
            (out if lfn in private else share)[lfn] = None
            need += file.size
    return JobReservation(
        stage_in=(),
        stage_out=tuple(out),
        read=tuple(read),
        write=tuple(write),
        need=need,
        share=tuple(share),
    )


def split_named(
    decision: PlacementDecision, candidates: Iterable[JobCandidate]
) -> tuple[list[JobCandidate], list[JobCandidate]]:
    """Candidates for which the user wants a job reservation, and all others."""
    named: list[JobCandidate] = []
    others: list[JobCandidate] = []
    for each in candidates:
        wanted = not decision.for_jobs.isdisjoint(each.reservation.stage_out)
        (named if wanted else others).append(each)
    return named, others


def check_named(
    given: PlanningInput, decision: PlacementDecision, named: Iterable[JobCandidate]
) -> None:
    """Raises CatalogError if a job cannot have the reservation that the user wants."""
    lost = decision.for_jobs.difference(*(each.reservation.stage_out for each in named))
    use = given.workflow.first_use(lost, of=("output", "checkpoint"))
    if use is not None:
        job, keys, lfn = use
        raise given.workflow.document.error(
            f"job {job.id} ({job.transformation}) cannot have a reservation of its own "
            f"for {lfn}: {decision.placement.files[lfn].reason}",
            keys,
            lfn,
            "a job of one node, with files of known sizes that have space there, "
            "without a checkpoint and without reading what it makes; results that are "
            "staged out (--output-sites); no sub-workflows",
        )


def job_reservation_selection(
    candidates: Sequence[JobCandidate],
    needs: tuple[int, int],
    reserve: Callable[[int], int],
    durations: Durations,
    *,
    one_tier: bool,
) -> tuple[Sequence[JobCandidate], Selection]:
    """The jobs that get a reservation, and the figures. O(n log n).

    ``needs`` are the bytes on the tier in mode persistent, and in mode hybrid without
    job reservations; ``reserve`` maps bytes to the capacity reserved for them.
    Candidates are taken in the order of their ratio, as many as minimise the total. If
    all reservations are on ``one_tier``, the shared one and the largest job reservation
    together never exceed what mode persistent reserves: the tier has space for that.
    """
    whole = reserve(needs[0])
    left = needs[1]
    ranked = sorted(candidates, key=lambda c: c.rank, reverse=True)
    taken = 0
    shared = reserve(left)
    of_jobs = 0.0
    least = shared * durations.shared
    cost = 0.0
    largest = 0
    for number, candidate in enumerate(ranked, start=1):
        left -= candidate.saved
        cost += candidate.reserved * candidate.duration
        largest = max(largest, candidate.reserved if one_tier else 0)
        rest = reserve(left)
        if rest * durations.shared + cost < least and rest + largest <= whole:
            taken = number
            shared = rest
            of_jobs = cost
            least = rest * durations.shared + cost
    return ranked[:taken], Selection(
        unit=durations.unit,
        span=durations.shared,
        persistent=whole * durations.shared,
        shared=shared * durations.shared,
        job_reservations=of_jobs,
        asked=len(ranked),
    )
