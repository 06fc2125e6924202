"""The planned reservation of one job, and the number of this try."""

from __future__ import annotations

import os

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import NODES, BBDir, NodeNeeds

if TYPE_CHECKING:
    from collections.abc import Mapping

# In a job's environment:
_INSIDE = "PEGASUS_BB_JOB_RESERVATION"  # node and try
JOB_FOLDER = "PEGASUS_BB_JOB_FOLDER"  # where it works
_LISTS = (
    "stage_in",
    "stage_out",
    "read",
    "write",
    "share",
    "stay",
    "checkpoints",
    "watched",
)
_OPTIONAL = ("share", "stay", "checkpoints", "watched")
LANDING = ".pegasus_bb_landing"  # in the run's scratch on the PFS


class PlannedReservation(NamedTuple):
    """The planned reservation of one node, and the number of this try."""

    node: str
    job: str  # HTCondor's number of this try
    capacity: int
    stage_in: tuple[str, ...]
    stage_out: tuple[str, ...]
    read: tuple[str, ...]
    write: tuple[str, ...]
    share: tuple[str, ...] = ()
    stay: tuple[str, ...] = ()  # made and read by tasks of this cluster alone
    # Those of ``stage_in`` that other jobs read: LFN -> its declared digest, or "".
    shared: Mapping[str, str] = {}
    checkpoints: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()  # of ``stage_in``: later jobs read them as well
    evacuation: Mapping[str, int] = {}  # what evacuation.py is to do
    retry: int = 0  # further tries of a task of a chain, in its place

    @property
    def made(self) -> tuple[str, ...]:
        """What the job makes in its space."""
        return (*self.stage_out, *self.share, *self.stay)

    @property
    def lfns(self) -> tuple[str, ...]:
        others = (*self.stage_in, *self.read, *self.write, *self.checkpoints)
        return (*others, *self.made)


def job_reservation(
    bb: BBDir, node: NodeNeeds, environ: Mapping[str, str]
) -> PlannedReservation:
    """The reservation of ``node``, with the number of this try. Raises UsageError."""
    job = environ.get("CONDOR_JOBID", "")
    if not job or not job.replace(".", "").isdigit():
        raise UsageError(
            f"CONDOR_JOBID is {job!r}, so this try of {node.name} cannot be told from "
            "others; the submit file must set it to $(cluster).$(process)"
        )
    try:
        planned = {**dict.fromkeys(_OPTIONAL, ()), **node.reservation}
        files = {key: tuple(map(str, planned[key])) for key in _LISTS}
        return PlannedReservation(
            node.name,
            job,
            int(planned["capacity"]),
            **files,
            shared=dict(planned.get("shared", {})),
            evacuation=dict(planned.get("evacuation", {})),
            retry=int(planned.get("retry", 0)),
        )
    except (KeyError, TypeError, ValueError) as error:
        file = bb.file(f"{NODES}/{node.name}.json")
        raise UsageError(f"{file}: cannot be used ({error!r}); plan again") from error


def mark(reservation: PlannedReservation, run: str, environ: dict[str, str]) -> None:
    """Tell the tasks of a cluster, through ``environ``, that it has this reservation
    and works in folder ``run``."""
    environ[_INSIDE] = f"{reservation.node} {reservation.job}"
    environ[JOB_FOLDER] = run


def is_inside(reservation: PlannedReservation, environ: dict[str, str]) -> bool:
    """Whether this is a task of a cluster, whose launch has opened the reservation and
    bound the paths in the list of tasks."""
    return environ.get(_INSIDE) == f"{reservation.node} {reservation.job}"


def landing_of(scratch: str, node: str, job: str) -> str:
    """The folder where the results of one try arrive, before they are renamed."""
    return os.path.join(scratch, LANDING, node, job)


def landing_here(bb: BBDir, node: str, job: str) -> str:
    """``landing_of`` that try as this machine sees it. Raises UsageError."""
    return landing_of(bb.as_seen_here(bb.transient().prefix), node, job)


def own_request(request: Request, reservation: PlannedReservation) -> Request:
    """The request of that node, the same for every try."""
    import hashlib

    of_node = f"{request.uuid}/{reservation.node}".encode()
    digest = hashlib.sha256(of_node).hexdigest()[:19]
    name = request.name[: -len(request.uuid.replace("-", "")[:12])] + digest
    return request._replace(name=name, capacity=reservation.capacity)
