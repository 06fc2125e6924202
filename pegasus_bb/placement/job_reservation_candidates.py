"""Mode hybrid: jobs whose reservation would hold files that only they use.

A task finds all that it makes under plain names in its job reservation. What other jobs
read is copied to the shared reservation when the task has ended, so the job reservation
has to hold it as well. What the task reads, and what the user wants on the PFS, are
links there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set
from functools import cache

from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import PFS, JobReservation, Placement
from pegasus_bb.model.workflow import Job
from pegasus_bb.placement.durations import Durations
from pegasus_bb.placement.executables import runs_on, staged_for
from pegasus_bb.placement.job_reservation_lint import MOST_FILES, several_nodes
from pegasus_bb.placement.job_reservation_selection import Candidate
from pegasus_bb.placement.planning_input import PlanningInput
from pegasus_bb.placement.sizing import automatic_capacity, quota_of
from pegasus_bb.placement.survey import INPUT, OUTPUT


def find_candidates(
    given: PlanningInput, placement: Placement, pinned: Set[str], lasts: Durations
) -> Iterator[Candidate]:
    """In the order of the workflow; none with sub-workflows, whose files are unknown.

    Linear in the uses of all jobs. A job that a reservation cannot serve is none: a
    file whose size is not known or that it names twice, a checkpoint, too many files
    for DataWarp's staging, more than one job may have there, several nodes if a
    reservation is on one.
    """
    tier, graph = placement.job_tier, given.graph
    quota = quota_of(tier) if not tier.is_reserved else None
    private = {} if given.has_sub_workflows else _private(given, placement, pinned)
    most = MOST_FILES if tier.is_staged else len(private)
    makers = {graph.producer[lfn]: None for lfn in private if lfn in graph.producer}

    @cache
    def capacity(need: int) -> int:
        return automatic_capacity(tier, given.settings.headroom, need)

    for ident in makers:
        job = given.workflow.jobs[ident]
        if not runs_on(job, tier.site):
            continue
        made = _made(job, graph, placement, private)
        if made is None or len(made.private) > most:
            continue
        need = made.saved + made.shared
        size = capacity(need)
        if quota is not None and size > quota:
            continue
        if tier.is_of_one_node and several_nodes(job, given.catalogs, tier.site):
            continue
        yield Candidate(
            ident,
            made.private,
            made.share,
            made.write,
            made.saved,
            need,
            size,
            lasts.jobs[ident],
            size if tier.is_reserved else 0,
        )


def _private(
    given: PlanningInput, placement: Placement, pinned: Set[str]
) -> dict[str, None]:
    """Files on the tier that no job reads but their maker, if at all. If results are
    not staged out, planning refuses to have them there: no job reservation shall hide
    that."""
    graph, ending = given.graph, given.ending
    return {
        file.lfn: None
        for file in placement.files.values()
        if file.role != INPUT
        and file.tier != PFS
        and file.lfn not in graph.consumers
        and file.lfn not in pinned
        and (ending.delivered or file.role != OUTPUT)
    }


class _Made:
    """What a job makes, by what would become of it."""

    __slots__ = ("private", "saved", "share", "shared", "write")

    def __init__(self) -> None:
        self.private: dict[str, None] = {}
        self.share: dict[str, None] = {}
        self.write: dict[str, None] = {}
        self.saved = self.shared = 0  # bytes of the first two


def _made(
    job: Job, graph: Graph, placement: Placement, private: Collection[str]
) -> _Made | None:
    """None if a job reservation would not do."""
    made = _Made()
    for use in job.uses:
        lfn = use.lfn
        if use.kind == "input":
            if graph.producer.get(lfn) == job.id:
                return None  # the task wants to find what it makes
            continue
        file = placement.files[lfn]
        if use.kind == "checkpoint":
            return None  # a later try wants to find it
        if file.tier == PFS:
            made.write[lfn] = None
        elif file.size is None or lfn in made.private or lfn in made.share:
            return None
        elif lfn in private:
            made.private[lfn] = None
            made.saved += file.size
        else:
            made.share[lfn] = None
            made.shared += file.size
    return made


def make_job_reservations(
    given: PlanningInput, site: str, taken: Iterable[Candidate]
) -> dict[str, JobReservation]:
    """Job -> its reservation, of those that get one."""
    catalog = given.catalogs.transformations

    @cache
    def programs(transformation: str) -> list[str]:
        return list(staged_for([transformation], catalog, site))

    return {
        candidate.job: _reservation(job, candidate, programs(job.transformation))
        for candidate in taken
        for job in (given.workflow.jobs[candidate.job],)
    }


def _reservation(job: Job, candidate: Candidate, programs: list[str]) -> JobReservation:
    reads = [use.lfn for use in job.uses if use.kind == "input"]
    return JobReservation(
        stage_in=(),
        stage_out=tuple(candidate.private),
        read=tuple(dict.fromkeys(reads + programs)),
        write=tuple(candidate.write),
        need=candidate.need,
        capacity=candidate.capacity,
        share=tuple(candidate.share),
    )
