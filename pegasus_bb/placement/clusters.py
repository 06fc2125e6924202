"""Mode transient: a cluster is one job of the batch system, with one reservation."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace

from pegasus_bb.model.placement import JobReservation, Placement
from pegasus_bb.placement.job_reservation_lint import check_count
from pegasus_bb.placement.job_reservations import (
    Owner,
    capacity_maker,
    check_size,
    reservation_maker,
)
from pegasus_bb.placement.liveness import sizes
from pegasus_bb.placement.planning_input import PlanningInput


def join_job_reservations(
    given: PlanningInput, placement: Placement, clusters: Mapping[str, Sequence[str]]
) -> Placement:
    """``placement`` with one reservation for all jobs of each cluster, by the cluster's
    name, in the place of theirs. ``clusters``: ids of the jobs, in the order in which
    they run. Raises CatalogError if a reservation is more than there may be.
    """
    tier, jobs = placement.tier, given.workflow.jobs
    make = reservation_maker(given, placement)
    here, capacity = sizes(placement), capacity_maker(tier, given.settings)
    found = dict(placement.job_reservations)
    for name, ids in clusters.items():
        for ident in ids:
            found.pop(ident, None)
        if name in jobs:
            raise given.workflow.document.error(
                "a job has the name that pegasus-plan gave to a cluster",
                ["jobs", jobs[name].index, "id"],
                name,
                "another id",
            )
        own = _joined((make(jobs[ident]) for ident in ids), here, capacity)
        if own.stage_in or own.stage_out:
            mend = "smaller clusters (clusters.size), or files on the PFS"
            first = jobs[ids[0]].index
            owner = Owner(f"cluster {name} of {len(ids)} jobs", first, mend)
            check_size(given, tier, owner, own)
            if tier.is_staged:
                check_count(given.workflow, owner.name, owner.place, own)
            found[name] = own
    return _with(placement, found)


def planned_job_reservations(placement: Placement, jobs: Container[str]) -> Placement:
    """``placement`` with the reservations of ``jobs`` alone: pegasus-plan leaves out
    jobs whose results are there already, or that no job or user wants."""
    own = placement.job_reservations.items()
    return _with(placement, {job: found for job, found in own if job in jobs})


def _with(placement: Placement, found: dict[str, JobReservation]) -> Placement:
    largest = max((own.capacity for own in found.values()), default=0)
    capacity = largest or placement.capacity
    return replace(placement, job_reservations=found, capacity=capacity)


def _joined(
    each: Iterable[JobReservation],
    here: Mapping[str, int],
    capacity: Callable[[int], int],
) -> JobReservation:
    """What the tasks use, each file once. What one makes, the later ones find there."""
    came: dict[str, None] = {}
    made: dict[str, None] = {}
    read: dict[str, None] = {}
    write: dict[str, None] = {}
    for own in each:
        came.update(dict.fromkeys(lfn for lfn in own.stage_in if lfn not in made))
        read.update(dict.fromkeys(lfn for lfn in own.read if lfn not in write))
        made.update(dict.fromkeys(own.stage_out))
        write.update(dict.fromkeys(own.write))
    need = sum(here[lfn] for lfn in came | made)
    return JobReservation(
        tuple(came), tuple(made), tuple(read), tuple(write), need, capacity(need)
    )
