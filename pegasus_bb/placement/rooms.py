"""Mode transient: what each job has on a reservation of its own, and its size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.placement import Placement, Room
from pegasus_bb.model.settings import AUTO, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.placement.executables import runs_on, staged_with
from pegasus_bb.placement.lint import lint_replicas
from pegasus_bb.placement.roomlint import lint_rooms
from pegasus_bb.placement.sizing import (
    automatic_capacity,
    choose_capacity,
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
    rooms = dict(_rooms(workflow, catalogs, placement))
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
    capacity = choose_capacity(catalogs, placement.tier, settings, need, unknown)
    sized = {
        job: replace(room, capacity=_capacity(placement.tier, settings, room.need))
        for job, room in rooms.items()
    }
    return replace(placement, rooms=sized, capacity=capacity)


def _rooms(
    workflow: Workflow, catalogs: Catalogs, placement: Placement
) -> Iterator[tuple[str, Room]]:
    site = placement.tier.site
    programs = staged_with(workflow, catalogs.transformations, site)
    for job in workflow.jobs.values():
        if runs_on(job, site):
            room = _room(job, programs.get(job.transformation, ()), placement)
            if room.stage_in or room.stage_out:
                yield job.id, room


def _room(job: Job, programs: tuple[str, ...], placement: Placement) -> Room:
    inputs = dict.fromkeys([use.lfn for use in job.inputs()] + list(programs))
    outputs = dict.fromkeys(use.lfn for use in job.uses if use.kind != "input")
    here = placement.on_tier
    stage_in = tuple(lfn for lfn in inputs if here(lfn))
    stage_out = tuple(lfn for lfn in outputs if here(lfn))
    sizes = (placement.files[lfn].size for lfn in {**inputs, **outputs} if here(lfn))
    return Room(
        stage_in,
        stage_out,
        read=tuple(lfn for lfn in inputs if not here(lfn)),
        write=tuple(lfn for lfn in outputs if not here(lfn)),
        need=sum(size for size in sizes if size is not None),
    )


def _capacity(tier: Tier, settings: Settings, need: int) -> int:
    wanted = wanted_capacity(tier, settings)
    if wanted == AUTO:
        return automatic_capacity(tier, settings.headroom, need)
    return round_up(wanted, tier.granularity)


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
