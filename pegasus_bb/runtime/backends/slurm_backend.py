"""What both backends of Slurm's burst buffers share: a variable of the job names a
buffer's folder, and the first job writes the run's identity into it."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.core.units import parse_duration
from pegasus_bb.model.reservation import Request, State, Status
from pegasus_bb.runtime.backends import identity
from pegasus_bb.runtime.backends.base import Backend, Listing, no_listing


class SlurmBackend(Backend):
    """``get_status`` and ``get_listing`` ask Slurm, and may raise that it does not
    answer."""

    def __init__(self, settings: Mapping[str, str], *, poll: str) -> None:
        """``poll``: the default of that key. Raises UsageError if a key is invalid."""
        self.timeout = parse_duration(settings.get("timeout", "15m"))
        self.poll = float(parse_duration(settings.get("poll", poll)))
        self.uid = os.getuid()
        self.owner = identity.user_name()

    def status(self, request: Request) -> Status:
        try:
            return self.get_status(request)
        except SchedulerUnreachable as error:
            return Status(State.UNKNOWN, str(error))
        except ReservationFailed as error:
            return Status(State.FAILED, str(error))

    @abstractmethod
    def get_status(self, request: Request) -> Status:
        """As ``status``. Raises SchedulerUnreachable, ReservationFailed."""

    def list_reservations(self, requests: Sequence[Request]) -> Listing:
        try:
            return self.get_listing(requests)
        except (SchedulerUnreachable, ReservationFailed) as error:
            return no_listing(requests, str(error))

    @abstractmethod
    def get_listing(self, requests: Sequence[Request]) -> Listing:
        """As ``list_reservations``. Raises SchedulerUnreachable, ReservationFailed."""

    def endpoint_id(self) -> str:
        return "Slurm"

    def use_folder(
        self, path: str, by: str, request: Request, *, unset: str, not_here: str
    ) -> str:
        """``path``, which ``by`` says, with the identity of the run. ``unset``: why it
        may be no path; ``not_here``: what a missing folder means. Raises
        ReservationFailed."""
        if not path.startswith("/"):
            found = repr(path) if path else "not set"
            raise ReservationFailed(f"{by} is {found} in this job: {unset}")
        if not os.path.isdir(path):
            raise ReservationFailed(
                f"{by} says {path}, which is not a directory on this node: {not_here}"
            )
        try:
            empty = all(n.startswith("." + identity.FILE) for n in os.listdir(path))
            if empty and self.may_claim(path):
                made = {"name": request.name, "uuid": request.uuid}
                identity.note(path, {**made, "created": time.time()})
        except OSError as error:
            raise ReservationFailed(
                f"reservation {request.name}: {path}: {error.strerror}"
            ) from error
        identity.check(path, request)
        return path

    def may_claim(self, path: str) -> bool:
        """Whether an empty folder ``path`` is a buffer. Raises OSError."""
        return True
