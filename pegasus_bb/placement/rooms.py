"""Mode transient: what each job has on a reservation of its own, and its size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.placement import Placement, Room
from pegasus_bb.model.settings import AUTO, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.placement.executables import runs_on, staged_with
from pegasus_bb.placement.lint import lint_replicas
from pegasus_bb.placement.liveness import sizes
from pegasus_bb.placement.roomlint import lint_rooms
from pegasus_bb.placement.sizing import (
    automatic_capacity,
    choose_capacity,
    quota_of,
    wanted_capacity,
)
from pegasus_bb.units import format_size, round_up


def reserve_rooms(
    workflow: Workflow, catalogs: Catalogs, settings: Settings, placement: Placement
) -> Placement:
    """``placement`` with a room for every job that touches the tier.

    Linear in the uses of all jobs. Raises CatalogError: a size that is not known where
    all are wanted, a job that needs more than was given, what staging cannot carry.
    """
    rooms = dict(_rooms(workflow, catalogs, settings, placement))
    lint_rooms(workflow, catalogs, placement, rooms)
    if not rooms:
        return replace(placement, capacity=placement.tier.granularity)
    largest = max(rooms, key=lambda job: rooms[job].need)
    need, unknown = rooms[largest].need, placement.unknown
    if wanted_capacity(placement.tier, settings) == AUTO:
        lint_replicas(workflow, catalogs, (placement.files[lfn] for lfn in unknown))
    elif 0 < wanted_capacity(placement.tier, settings) < need:
        job = workflow.jobs[largest]
        raise _too_small(workflow, job, need, placement.tier, settings)
    _check_quota(workflow, workflow.jobs[largest], rooms[largest], placement.tier)
    capacity = choose_capacity(catalogs, placement.tier, settings, need, unknown)
    return replace(placement, rooms=rooms, capacity=capacity)


def _rooms(
    workflow: Workflow, catalogs: Catalogs, settings: Settings, placement: Placement
) -> Iterator[tuple[str, Room]]:
    tier, wanted = placement.tier, wanted_capacity(placement.tier, settings)
    programs = staged_with(workflow, catalogs.transformations, tier.site)
    here = sizes(placement)

    @cache
    def capacity(need: int) -> int:
        if wanted == AUTO:
            return automatic_capacity(tier, settings.headroom, need)
        return round_up(wanted, tier.granularity)

    for job in workflow.jobs.values():
        if runs_on(job, tier.site):
            room = _room(job, programs[job.transformation], here, capacity)
            if room.stage_in or room.stage_out:
                yield job.id, room


def _room(
    job: Job,
    programs: tuple[str, ...],
    here: Mapping[str, int],
    capacity: Callable[[int], int],
) -> Room:
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
    return Room(
        tuple(came), tuple(made), tuple(read), tuple(write), need, capacity(need)
    )


def _too_small(
    workflow: Workflow, job: Job, need: int, tier: Tier, settings: Settings
) -> CatalogError:
    wanted = wanted_capacity(tier, settings)
    return workflow.document.error(
        f"in mode transient each job reserves {format_size(wanted)}, and the files of "
        f"job {job.id} ({job.transformation}) on tier {tier.name} have "
        f"{format_size(need)} ({need} bytes)",
        ["jobs", job.index],
        str(wanted),
        "--bb-capacity auto, which is as much as each job needs, or more capacity, or "
        "files on the PFS (bb.tier: pfs)",
    )


def _check_quota(workflow: Workflow, job: Job, room: Room, tier: Tier) -> None:
    quota = quota_of(tier)
    if quota is not None and room.capacity > quota:
        raise workflow.document.error(
            f"job {job.id} ({job.transformation}) needs {format_size(room.capacity)} "
            f"({room.capacity} bytes) on tier {tier.name} for itself, and the quota "
            f"there is {format_size(quota)} ({quota} bytes)",
            ["jobs", job.index],
            str(room.capacity),
            "a larger quota, or some of its files on the PFS (bb.tier: pfs)",
        )
