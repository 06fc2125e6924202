"""Mode transient: the files and the size of each job reservation.

A cluster of jobs is one job of the batch system, with one reservation.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from pegasus_bb.core.units import format_size
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.lint_files import lint_replicas
from pegasus_bb.decide.lint_job_reservations import check_count, lint_job_reservations
from pegasus_bb.decide.liveness import sizes
from pegasus_bb.decide.shared_inputs import cacheable_inputs, watched_inputs
from pegasus_bb.decide.sizing import (
    automatic_capacity,
    choose_capacity,
    quota_of,
    wanted_capacity,
)
from pegasus_bb.decide.survey import INTERMEDIATE, staged_with
from pegasus_bb.model.placement import JobReservation, Placement
from pegasus_bb.model.settings import AUTO, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Job

_SMALLER = "fewer or smaller files: its nodes see no PFS"


def reserve_for_jobs(given: PlanningInput, placement: Placement) -> Placement:
    """``placement`` with a reservation for every job that uses the tier.

    Linear in the uses of all jobs. Raises CatalogError for an unknown size if all
    are needed, for a job above the given capacity, and for files that staging cannot
    copy.
    """
    make = reservation_maker(given, placement)
    tier = placement.tier
    unknown = placement.unknown
    jobs = [job for job in given.workflow if job.runs_on(tier.site)]
    pairs = ((job.id, make([job])) for job in jobs)
    reservations = {job: own for job, own in pairs if own.is_used}
    lint_job_reservations(given, placement, reservations)
    if not reservations:
        return replace(placement, capacity=tier.granularity)
    ident, largest = max(reservations.items(), key=lambda pair: pair[1].need)
    if wanted_capacity(tier, given.settings) == AUTO:
        files = (placement.files[lfn] for lfn in unknown)
        lint_replicas(given.workflow, given.catalogs, files)
    job = given.workflow.jobs[ident]
    remedy = "some of its files on the PFS (bb.tier: pfs)"
    if tier.is_all_nodes_see:
        remedy = _SMALLER
    owner = Owner(f"job {ident} ({job.transformation})", job.index, remedy)
    _check_size(given, tier, owner, largest)
    capacity = choose_capacity(given, tier, largest.need, unknown)
    return replace(placement, job_reservations=reservations, capacity=capacity)


def join_job_reservations(
    given: PlanningInput, placement: Placement, clusters: Mapping[str, Sequence[str]]
) -> Placement:
    """``placement`` with one reservation per cluster, under the cluster's name, in
    place of those of its jobs. ``clusters`` has the ids of the jobs in the order in
    which they run. Raises CatalogError if a reservation is too large.
    """
    tier = placement.tier
    jobs = given.workflow.jobs
    make = reservation_maker(given, placement)
    reservations = dict(placement.job_reservations)
    for name, ids in clusters.items():
        for ident in ids:
            reservations.pop(ident, None)
        if name in jobs:
            raise given.workflow.job_error(
                jobs[name],
                "a job has the name that pegasus-plan gave to a cluster",
                name,
                "another id",
                "id",
            )
        own = make([jobs[ident] for ident in ids])
        if own.is_used:
            other = _SMALLER if tier.is_all_nodes_see else "files on the PFS"
            remedy = f"smaller clusters (clusters.size), or {other}"
            first = jobs[ids[0]].index
            owner = Owner(f"cluster {name} of {len(ids)} jobs", first, remedy)
            _check_size(given, tier, owner, own)
            if tier.is_staged:
                check_count(given.workflow, owner.name, owner.place, own)
            reservations[name] = own
    return with_reservations(placement, reservations)


def planned_job_reservations(placement: Placement, jobs: Container[str]) -> Placement:
    """``placement`` with the reservations of ``jobs`` only: pegasus-plan leaves out
    jobs whose results exist already, or are not needed."""
    own = placement.job_reservations.items()
    kept = {job: reservation for job, reservation in own if job in jobs}
    return with_reservations(placement, kept)


def with_reservations(
    placement: Placement, reservations: dict[str, JobReservation]
) -> Placement:
    """``placement`` with these, and the capacity of the largest."""
    largest = max((own.capacity for own in reservations.values()), default=0)
    capacity = largest or placement.capacity
    return replace(placement, job_reservations=reservations, capacity=capacity)


def capacity_maker(tier: Tier, settings: Settings) -> Callable[[int], int]:
    wanted = wanted_capacity(tier, settings)

    @cache
    def capacity(need: int) -> int:
        if wanted == AUTO:
            return automatic_capacity(tier, settings.headroom, need)
        return wanted

    return capacity


def temporary_files(given: PlanningInput, tier: Tier) -> Callable[[Job], int]:
    """The bytes of temporary files that a job had on such a tier in earlier runs; 0 if
    they go elsewhere."""
    history = given.history
    if not tier.has_temporary_files:
        return lambda job: 0
    return lambda job: history.temporary_of(job.id, job.transformation)


def reservation_maker(
    given: PlanningInput, placement: Placement
) -> Callable[[Sequence[Job]], JobReservation]:
    """A function that makes one reservation for jobs that run one after the other. It
    has each of their files once; a later job finds there the outputs of earlier ones.
    With --bb-chains a file stays there that no other job reads and that is no result.
    It is empty without files on the tier. Linear: there may be a million uses."""
    tier = placement.tier
    catalog = given.catalogs.transformations
    programs = staged_with(given.workflow, catalog, tier.site)
    here = sizes(placement)
    capacity = capacity_maker(tier, given.settings)
    temporary = temporary_files(given, tier)
    cacheable = cacheable_inputs(given, placement)
    watched = watched_inputs(given)

    def make(jobs: Sequence[Job]) -> JobReservation:
        inputs: dict[str, None] = {}
        outputs: dict[str, None] = {}
        read: dict[str, None] = {}
        write: dict[str, None] = {}
        saved: dict[str, None] = {}
        for job in jobs:
            written = []
            for use in job.uses:
                lfn = use.lfn
                if use.kind == "checkpoint" and lfn in here:
                    saved[lfn] = None
                elif use.kind != "input":
                    written.append(lfn)
                elif lfn not in outputs and lfn not in write:
                    (inputs if lfn in here else read)[lfn] = None
            for lfn in programs[job.transformation]:
                (inputs if lfn in here else read)[lfn] = None
            for lfn in written:
                (outputs if lfn in here else write)[lfn] = None
        stay = staying(given, placement, jobs, outputs)
        need = sum([here[lfn] for lfn in inputs | outputs | saved])
        need += max([temporary(job) for job in jobs])  # of one after the other
        only_read = inputs.keys() - outputs.keys() - write.keys()
        return JobReservation(
            tuple(inputs),
            tuple(lfn for lfn in outputs if lfn not in stay),
            tuple(read),
            tuple(write),
            need,
            capacity(need),
            stay=stay,
            cacheable=cacheable(jobs, only_read),
            checkpoints=tuple(saved),
            watched=watched(jobs, only_read),
        )

    return make


def staying(
    given: PlanningInput,
    placement: Placement,
    jobs: Sequence[Job],
    outputs: Iterable[str],
) -> tuple[str, ...]:
    """Those of ``outputs`` of the cluster ``jobs`` that need not leave its node."""
    if given.settings.chains == "off" or len(jobs) < 2:
        return ()
    inside = {job.id for job in jobs}
    readers = given.graph.consumers
    return tuple(
        lfn
        for lfn in outputs
        if placement.files[lfn].role == INTERMEDIATE
        and inside.issuperset(readers.get(lfn, ()))
    )


class Owner(NamedTuple):
    name: str
    place: int  # index of the job, or of a cluster's first one
    remedy: str  # what would make it smaller


def _check_size(
    given: PlanningInput, tier: Tier, owner: Owner, own: JobReservation
) -> None:
    wanted = wanted_capacity(tier, given.settings)
    quota = quota_of(tier)
    document = given.workflow.document
    if 0 < wanted < own.need:
        raise document.error(
            f"in mode transient each job reserves {format_size(wanted)}, and the files "
            f"of {owner.name} on tier {tier.name} have {format_size(own.need)} "
            f"({own.need} bytes)",
            ["jobs", owner.place],
            str(wanted),
            "--bb-capacity auto, which is as much as each job needs, or more "
            f"capacity, or {owner.remedy}",
        )
    if quota is not None and own.capacity > quota:
        raise document.error(
            f"{owner.name} needs {format_size(own.capacity)} ({own.capacity} bytes) "
            f"on tier {tier.name} for itself, and the quota there is "
            f"{format_size(quota)} ({quota} bytes)",
            ["jobs", owner.place],
            str(own.capacity),
            f"a larger quota, or {owner.remedy}",
        )
