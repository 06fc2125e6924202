"""Mode transient: what each job has on a reservation of its own, and its size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from pegasus_bb.model.placement import JobReservation, Placement
from pegasus_bb.model.properties import AUTO, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Job
from pegasus_bb.placement.executables import runs_on, staged_with
from pegasus_bb.placement.job_reservation_lint import lint_job_reservations
from pegasus_bb.placement.lint import lint_replicas
from pegasus_bb.placement.liveness import sizes
from pegasus_bb.placement.planning_input import PlanningInput
from pegasus_bb.placement.sizing import (
    automatic_capacity,
    choose_capacity,
    quota_of,
    wanted_capacity,
)
from pegasus_bb.units import format_size, round_up


def reserve_for_jobs(given: PlanningInput, placement: Placement) -> Placement:
    """``placement`` with a reservation for every job that uses the tier.

    Linear in the uses of all jobs. Raises CatalogError: a size that is not known though
    all are wanted, a job that needs more than was given, what staging cannot carry.
    """
    make = reservation_maker(given, placement)
    jobs = [
        job for job in given.workflow.jobs.values() if runs_on(job, placement.tier.site)
    ]
    found = ((job.id, make(job)) for job in jobs)
    reservations = {job: own for job, own in found if own.stage_in or own.stage_out}
    lint_job_reservations(given, placement, reservations)
    tier, unknown = placement.tier, placement.unknown
    if not reservations:
        return replace(placement, capacity=tier.granularity)
    job, largest = max(reservations.items(), key=lambda pair: pair[1].need)
    if wanted_capacity(tier, given.settings) == AUTO:
        files = (placement.files[lfn] for lfn in unknown)
        lint_replicas(given.workflow, given.catalogs, files)
    check_size(given, tier, Owner.of(given.workflow.jobs[job]), largest)
    capacity = choose_capacity(
        given.catalogs, tier, given.settings, largest.need, unknown
    )
    return replace(placement, job_reservations=reservations, capacity=capacity)


def reservation_maker(
    given: PlanningInput, placement: Placement
) -> Callable[[Job], JobReservation]:
    """What makes the reservation of a job; an empty one without files on the tier."""
    tier, catalog = placement.tier, given.catalogs.transformations
    programs = staged_with(given.workflow, catalog, tier.site)
    here, capacity = sizes(placement), capacity_maker(tier, given.settings)
    return lambda job: _reservation(job, programs[job.transformation], here, capacity)


def capacity_maker(tier: Tier, settings: Settings) -> Callable[[int], int]:
    """The function from the bytes that a job needs to those that it reserves."""
    wanted = wanted_capacity(tier, settings)

    @cache
    def capacity(need: int) -> int:
        if wanted == AUTO:
            return automatic_capacity(tier, settings.headroom, need)
        return round_up(wanted, tier.granularity)

    return capacity


def _reservation(
    job: Job,
    programs: tuple[str, ...],
    here: Mapping[str, int],
    capacity: Callable[[int], int],
) -> JobReservation:
    """LFNs of ``job`` by what becomes of them, each once; ``here`` are the files on the
    tier. One look at each use: there may be a million."""
    came: dict[str, None] = {}
    made: dict[str, None] = {}
    read: dict[str, None] = {}
    write: dict[str, None] = {}
    for use in job.uses:
        lfn = use.lfn
        if use.kind == "input":
            (came if lfn in here else read)[lfn] = None
        else:
            (made if lfn in here else write)[lfn] = None
    for lfn in programs:
        (came if lfn in here else read)[lfn] = None
    need = sum([here[lfn] for lfn in came | made])
    return JobReservation(
        tuple(came), tuple(made), tuple(read), tuple(write), need, capacity(need)
    )


class Owner(NamedTuple):
    """Who has a job reservation, for an error about it."""

    name: str
    place: int  # of the job, or of a cluster's first one
    mend: str  # what would make it smaller

    @classmethod
    def of(cls, job: Job) -> Owner:
        """A job by itself."""
        mend = "some of its files on the PFS (bb.tier: pfs)"
        return cls(f"job {job.id} ({job.transformation})", job.index, mend)


def check_size(
    given: PlanningInput, tier: Tier, owner: Owner, own: JobReservation
) -> None:
    """Raises CatalogError if ``own`` is more than was given, or than the quota."""
    wanted, quota = wanted_capacity(tier, given.settings), quota_of(tier)
    document = given.workflow.document
    if wanted != AUTO and 0 < wanted < own.need:
        raise document.error(
            f"in mode transient each job reserves {format_size(wanted)}, and the files "
            f"of {owner.name} on tier {tier.name} have {format_size(own.need)} "
            f"({own.need} bytes)",
            ["jobs", owner.place],
            str(wanted),
            "--bb-capacity auto, which is as much as each job needs, or more "
            f"capacity, or {owner.mend}",
        )
    if quota is not None and own.capacity > quota:
        raise document.error(
            f"{owner.name} needs {format_size(own.capacity)} ({own.capacity} bytes) "
            f"on tier {tier.name} for itself, and the quota there is "
            f"{format_size(quota)} ({quota} bytes)",
            ["jobs", owner.place],
            str(own.capacity),
            f"a larger quota, or {owner.mend}",
        )
