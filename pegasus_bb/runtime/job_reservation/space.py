"""The folder in which a job works, with its inputs."""

from __future__ import annotations

import contextlib
import os

from pegasus_bb.core.errors import ReservationFailed
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.job_reservation.planned import PlannedReservation, landing_of
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.staging.folder_lfns import copy_path
from pegasus_bb.runtime.task import discard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

WORK = ".room"  # ends the name of a try's folder to work in, next to its landing folder
_NODES = "SLURM_JOB_NUM_NODES"


class SharedInputs:
    """Inputs that a job shares with others on its node: here there are none.
    input_cache.py has those of a cache."""

    size = 0  # bytes that are on the node already
    folders: tuple[str, ...] = ()  # where links to them lead to
    facts: Mapping[str, int] = {}  # for the job's note

    def free(self, need: int) -> None:
        """Let the disk have ``need`` bytes free, if what no job uses is enough."""

    def link(self, lfn: str, path: str, here: str) -> bool:
        """Make ``here`` a link to what input ``path`` is on the node; whether it is
        one. Raises CopyFailed."""
        return False

    def check(self, status: int, outputs: Iterable[str]) -> int:
        """The exit status of a job whose task has ended with ``status``: 1 if the task
        has changed an input in place. ``outputs`` may be copies of inputs."""
        return status


class Space(NamedTuple):
    run: str  # replaces the run's scratch
    results: str  # of this try
    by_system: bool  # the batch system stages; else launch does
    since: float = 0.0  # when the reservation was ready; 0 if it works on the PFS
    shared: SharedInputs = SharedInputs()
    scratch: tuple[str, ...] = ()  # folders of the run, whose clean-ups remove files

    def path(self, lfn: str) -> str:
        """Where ``lfn`` is in it. Raises UsageError if that leads outside."""
        return checked_path(self.run, lfn)

    @property
    def vanishing(self) -> tuple[str, ...]:
        """Folders that results must not lead to: they are removed."""
        return (os.path.dirname(self.run), *self.shared.folders, *self.scratch)


def fill(
    request: Request,
    reservation: PlannedReservation,
    base: str,
    since: float,
    shared: SharedInputs,
) -> Space:
    """Copy the inputs of the job into folder ``base``, or link those that are
    ``shared``. Raises CopyFailed."""
    results = landing_of(request.prefix, reservation.node, reservation.job)
    _discard_older_tries(results)
    space = Space(os.path.join(base, "run"), results, False, since, shared)
    make_folders(reservation, space)
    for lfn in reservation.stage_in:
        source = checked_path(request.prefix, lfn)
        here = space.path(lfn)
        if not shared.link(lfn, source, here):
            copy_path(source, here, digest=False)
    if reservation.checkpoints:
        from pegasus_bb.runtime.job_reservation.checkpoints import bring

        bring(reservation, request.prefix, space.run)
    return space


def make_folders(reservation: PlannedReservation, space: Space) -> None:
    os.makedirs(space.run, exist_ok=True)
    for folder in {os.path.dirname(lfn) for lfn in reservation.lfns if "/" in lfn}:
        os.makedirs(space.path(folder), exist_ok=True)


def _discard_older_tries(landing: str) -> None:
    """Remove the folders of killed or failed tries of that node, next to
    ``landing``."""
    tries, this = os.path.split(landing)
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(tries):
            if name not in (this, f"{this}{WORK}"):
                discard(os.path.join(tries, name))


def check_one_node(environ: dict[str, str]) -> None:
    """Raises ReservationFailed if a part of the job would not see its files."""
    nodes = environ.get(_NODES, "1")
    if nodes not in ("", "1"):
        raise ReservationFailed(
            f"this job has {nodes} nodes (${_NODES}), and what one has to itself the "
            "others do not see: one node for it, or bb.tier: pfs for its files"
        )
