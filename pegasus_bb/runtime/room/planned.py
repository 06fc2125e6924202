"""What planning wrote of a job with a room, and which try of it this is."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Dict, NamedTuple, Optional, Tuple

from pegasus_bb.errors import UsageError
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir

_INSIDE = "PEGASUS_BB_ROOM"  # in the environment of what runs in a room: which try
LANDING = ".pegasus_bb_landing"  # in the run's scratch on the PFS


class Room(NamedTuple):
    """What planning wrote of one node, and which try of it this is."""

    node: str
    job: str  # HTCondor's number of this try
    capacity: int
    stage_in: Tuple[str, ...]
    stage_out: Tuple[str, ...]
    read: Tuple[str, ...]
    write: Tuple[str, ...]
    share: Tuple[str, ...] = ()


def room_of(bb: BBDir, environ: Dict[str, str]) -> Optional[Room]:
    """What this job has on a reservation of its own; None for most runs. UsageError."""
    if not bb.is_transient:
        return None
    node = environ.get("PEGASUS_DAG_JOB_ID", "")
    if not node or "/" in node:
        raise UsageError(
            f"PEGASUS_DAG_JOB_ID is {node!r}, so the files of this job are not known; "
            "the submit file must set it in the job's environment"
        )
    said = bb.room(node)
    if not said:
        return None
    job = environ.get("CONDOR_JOBID", "")
    if not job or not job.replace(".", "").isdigit():
        raise UsageError(
            f"CONDOR_JOBID is {job!r}, so this try of {node} cannot be told from "
            "others; the submit file must set it to $(cluster).$(process)"
        )
    try:
        said = {"share": (), **said}
        files = (tuple(map(str, said[key])) for key in Room._fields[3:])
        return Room(node, job, int(said["capacity"]), *files)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{bb.file(f'jobs/{node}.json')}: cannot be used ({error!r}); plan again"
        ) from error


def mark(room: Room, environ: Dict[str, str]) -> None:
    """Tell what is started with this environment that it runs in that room."""
    environ[_INSIDE] = f"{room.node} {room.job}"


def is_inside(room: Room, environ: Dict[str, str]) -> bool:
    """Whether this is a task of a cluster: the launch of the cluster has made the room,
    and bound its paths in the list of tasks."""
    return environ.get(_INSIDE) == f"{room.node} {room.job}"


def landing_of(scratch: str, node: str, job: str) -> str:
    """Where the results of one try arrive, before they get their names."""
    return os.path.join(scratch, LANDING, node, job)


def own_request(request: Request, room: Room) -> Request:
    """The reservation of that node; every try of it has the same."""
    import hashlib

    digest = hashlib.sha256(f"{request.uuid}/{room.node}".encode()).hexdigest()[:19]
    name = request.name[: -len(request.uuid.replace("-", "")[:12])] + digest
    return replace(request, name=name, capacity=room.capacity)
