"""Mode transient: what each job has on a reservation of its own, and its size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

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
    room_of = room_maker(workflow, catalogs, settings, placement)
    site, jobs = placement.tier.site, workflow.jobs.values()
    found = ((job.id, room_of(job)) for job in jobs if runs_on(job, site))
    rooms = {job: room for job, room in found if room.stage_in or room.stage_out}
    lint_rooms(workflow, catalogs, placement, rooms)
    if not rooms:
        return replace(placement, capacity=placement.tier.granularity)
    largest = max(rooms, key=lambda job: rooms[job].need)
    need, unknown = rooms[largest].need, placement.unknown
    owner = Owner.of(workflow.jobs[largest])
    if wanted_capacity(placement.tier, settings) == AUTO:
        lint_replicas(workflow, catalogs, (placement.files[lfn] for lfn in unknown))
    check_size(workflow, settings, placement.tier, owner, rooms[largest])
    capacity = choose_capacity(catalogs, placement.tier, settings, need, unknown)
    return replace(placement, rooms=rooms, capacity=capacity)


def room_maker(
    workflow: Workflow, catalogs: Catalogs, settings: Settings, placement: Placement
) -> Callable[[Job], Room]:
    """What makes the room of a job; of one without files on the tier an empty one."""
    programs = staged_with(workflow, catalogs.transformations, placement.tier.site)
    here, capacity = sizes(placement), capacity_maker(placement.tier, settings)
    return lambda job: _room(job, programs[job.transformation], here, capacity)


def capacity_maker(tier: Tier, settings: Settings) -> Callable[[int], int]:
    """What makes of the bytes that a job needs those that it reserves."""
    wanted = wanted_capacity(tier, settings)

    @cache
    def capacity(need: int) -> int:
        if wanted == AUTO:
            return automatic_capacity(tier, settings.headroom, need)
        return round_up(wanted, tier.granularity)

    return capacity


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


class Owner(NamedTuple):
    """Who has a room, for an error about it."""

    name: str
    place: int  # of the job, or of a cluster's first one
    mend: str  # what would make its room smaller

    @classmethod
    def of(cls, job: Job) -> Owner:
        """A job by itself."""
        mend = "some of its files on the PFS (bb.tier: pfs)"
        return cls(f"job {job.id} ({job.transformation})", job.index, mend)


def check_size(
    workflow: Workflow, settings: Settings, tier: Tier, owner: Owner, room: Room
) -> None:
    """Raises CatalogError where ``room`` is more than was given, or than the quota."""
    wanted, quota = wanted_capacity(tier, settings), quota_of(tier)
    if wanted != AUTO and 0 < wanted < room.need:
        raise workflow.document.error(
            f"in mode transient each job reserves {format_size(wanted)}, and the files "
            f"of {owner.name} on tier {tier.name} have {format_size(room.need)} "
            f"({room.need} bytes)",
            ["jobs", owner.place],
            str(wanted),
            "--bb-capacity auto, which is as much as each job needs, or more "
            f"capacity, or {owner.mend}",
        )
    if quota is not None and room.capacity > quota:
        raise workflow.document.error(
            f"{owner.name} needs {format_size(room.capacity)} ({room.capacity} bytes) "
            f"on tier {tier.name} for itself, and the quota there is "
            f"{format_size(quota)} ({quota} bytes)",
            ["jobs", owner.place],
            str(room.capacity),
            f"a larger quota, or {owner.mend}",
        )
