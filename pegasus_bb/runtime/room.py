"""A job on a reservation of its own, in modes transient and hybrid.

    <reservation>/run        the task's working directory: stands for the run's scratch
    <reservation>/results    what comes back, in a folder of this try (datawarp)

The task sees its files under the names that they have in the run's scratch: on the PFS,
or in mode hybrid on the reservation that all jobs share. Its results are noted, with
size and digest, before the job ends: whoever goes on from them looks for these bytes,
whatever the batch system says of the job.
"""

from __future__ import annotations

import contextlib
import os
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from pegasus_bb.errors import PegasusBBError, ReservationFailed, UsageError
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.bind import Binding, Nested
from pegasus_bb.runtime.links import Link, checked_path, make_link

_INSIDE = "PEGASUS_BB_ROOM"  # in the environment of what runs in a room: which try
_NODES = "SLURM_JOB_NUM_NODES"
LANDING = ".pegasus_bb_landing"  # in the run's scratch on the PFS


Start = Callable[[Binding, List[str], Dict[str, str], List[Link]], int]
Shared = Callable[[], Optional[Binding]]  # where the reservation of all jobs is


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


def is_inside(room: Room, environ: Dict[str, str]) -> bool:
    """Whether this is a task of a cluster: the launch of the cluster has made the room,
    and bound its paths in the list of tasks."""
    return environ.get(_INSIDE) == f"{room.node} {room.job}"


def landing_of(scratch: str, node: str, job: str) -> str:
    """Where the results of one try arrive, before they get their names."""
    return os.path.join(scratch, LANDING, node, job)


def check_one_node(environ: Dict[str, str]) -> None:
    """Raises ReservationFailed in a job of which a part would not see its files."""
    nodes = environ.get(_NODES, "1")
    if nodes not in ("", "1"):
        raise ReservationFailed(
            f"this job has {nodes} nodes (${_NODES}), and what one has to itself the "
            "others do not see: one node for it, or bb.tier: pfs for its files"
        )


def run_in_room(
    bb: BBDir,
    room: Room,
    argv: List[str],
    environ: Dict[str, str],
    start: Start,
    shared: Shared = lambda: None,
) -> int:
    """Run ``argv`` on the job's own reservation, by ``start``; its exit status.

    Raises ReservationFailed, UsageError, CopyFailed before anything was started.
    """
    from pegasus_bb.runtime.alone import Alone
    from pegasus_bb.runtime.room_results import forget, note_failure

    with Alone(bb, environ):
        forget(bb, room.node)
        try:
            return _run(bb, room, argv, environ, start, shared())
        except (PegasusBBError, OSError):
            note_failure(bb, room, environ)
            raise


def _run(
    bb: BBDir,
    room: Room,
    argv: List[str],
    environ: Dict[str, str],
    start: Start,
    shared: Optional[Binding],
) -> int:
    from pegasus_bb.runtime.room_results import finish
    from pegasus_bb.runtime.room_space import opened

    request = bb.transient()
    planned = bb.scratch() if shared else request.prefix
    scratch = shared.text(planned) if shared else planned
    for link in _ways_home(room, request, scratch):
        make_link(link)
    with opened(bb, request, room, environ) as space:
        binding = Binding(planned, space.run)
        if shared:
            binding = Nested(planned, space.run, shared)
        argv, bound = binding.argv(argv), binding.environ(environ)
        bound[_INSIDE] = f"{room.node} {room.job}"
        links = list(_links(room, request, space.run, scratch))
        with _inside(binding):
            status = start(binding, argv, bound, links)
        return finish(bb, room, space, status, environ, scratch)


def _ways_home(room: Room, request: Request, scratch: str) -> Iterator[Link]:
    """Mode hybrid: what comes back to the PFS, or lives there, is found by way of the
    shared reservation; so these links are there before anybody can look for it."""
    if scratch != request.prefix:
        for lfn in (*room.stage_out, *room.write):
            path = checked_path(scratch, lfn)
            yield Link(lfn, path, checked_path(request.prefix, lfn), ours=True)


def _links(room: Room, request: Request, run: str, scratch: str) -> Iterator[Link]:
    """What lives elsewhere; what it only reads there is not its to change."""
    for lfns, home, ours in (
        (room.read, scratch, False),
        (room.write, request.prefix, True),
    ):
        for lfn in lfns:
            yield Link(lfn, checked_path(run, lfn), checked_path(home, lfn), ours)


@contextlib.contextmanager
def _inside(binding: Binding) -> Iterator[None]:
    """Stand where the batch system has put the job, but on its own reservation."""
    before = os.getcwd()
    there = binding.text(before)
    os.makedirs(there, exist_ok=True)
    os.chdir(there)
    try:
        yield
    finally:
        os.chdir(before)
