"""Mode transient: a cluster of jobs is one job of the batch system, with one room."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.placement import Placement, Room
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.liveness import sizes
from pegasus_bb.placement.roomlint import check_count
from pegasus_bb.placement.rooms import Owner, capacity_maker, check_size, room_maker


def join_rooms(
    workflow: Workflow,
    catalogs: Catalogs,
    settings: Settings,
    placement: Placement,
    clusters: Mapping[str, Sequence[str]],
) -> Placement:
    """``placement`` with one room for all jobs of each cluster, by the cluster's name,
    in the place of theirs. ``clusters``: ids of the jobs, in the order in which they
    run. Raises CatalogError where a room is more than there may be.
    """
    room_of = room_maker(workflow, catalogs, settings, placement)
    here, capacity = sizes(placement), capacity_maker(placement.tier, settings)
    rooms = dict(placement.rooms)
    for name, ids in clusters.items():
        jobs = [workflow.jobs[ident] for ident in ids]
        for ident in ids:
            rooms.pop(ident, None)
        if name in workflow.jobs:
            raise workflow.document.error(
                "a job has the name that pegasus-plan gave to a cluster",
                ["jobs", workflow.jobs[name].index, "id"],
                name,
                "another id",
            )
        room = _joined(map(room_of, jobs), here, capacity)
        if room.stage_in or room.stage_out:
            mend = "smaller clusters (clusters.size), or files on the PFS"
            owner = Owner(f"cluster {name} of {len(ids)} jobs", jobs[0].index, mend)
            check_size(workflow, settings, placement.tier, owner, room)
            if placement.tier.is_staged:
                check_count(workflow, owner.name, owner.place, room)
            rooms[name] = room
    return _with(placement, rooms)


def planned_rooms(placement: Placement, jobs: Container[str]) -> Placement:
    """``placement`` with the rooms of ``jobs`` alone: pegasus-plan leaves out those
    whose results are there already, or wanted by nobody."""
    kept = {job: room for job, room in placement.rooms.items() if job in jobs}
    return _with(placement, kept)


def _with(placement: Placement, rooms: dict[str, Room]) -> Placement:
    largest = max((room.capacity for room in rooms.values()), default=0)
    return replace(placement, rooms=rooms, capacity=largest or placement.capacity)


def _joined(
    rooms: Iterable[Room], here: Mapping[str, int], capacity: Callable[[int], int]
) -> Room:
    """What the tasks use, each file once. What one makes the later ones find there."""
    came: dict[str, None] = {}
    made: dict[str, None] = {}
    read: dict[str, None] = {}
    write: dict[str, None] = {}
    for room in rooms:
        came.update(dict.fromkeys(lfn for lfn in room.stage_in if lfn not in made))
        read.update(dict.fromkeys(lfn for lfn in room.read if lfn not in write))
        made.update(dict.fromkeys(room.stage_out))
        write.update(dict.fromkeys(room.write))
    need = sum(here[lfn] for lfn in came | made)
    return Room(
        tuple(came), tuple(made), tuple(read), tuple(write), need, capacity(need)
    )
