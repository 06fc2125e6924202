"""Reservations of runs whose submit directory is gone.

Nothing tells which of their data are safe, so only a user drops one, by its name.
"""

from __future__ import annotations

from pegasus_bb.errors import ReservationFailed
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.reservation.base import Backend
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime import program, reservation_identity
from pegasus_bb.runtime.release import release_reservation


def orphan_status(backend: Backend, request: Request, found: Status) -> Status:
    """``found``, but UNKNOWN where its storage may only be away."""
    if found.state not in (State.ABSENT, State.UNKNOWN):
        return found
    return reservation_identity.elsewhere(backend, request, "") or found


def discard_orphan(request: Request, asked: float, submit_dir: str) -> str:
    """Give back, with all that is on it, what a run in ``submit_dir``, which is gone,
    asked for at ``asked``; words for the user.

    Raises ReservationFailed, SchedulerUnreachable.
    """
    backend = open_backend(request.backend, request.settings)
    noted = Reservation(request.name, request.backend, request.uuid, asked)
    words = release_reservation(
        request,
        noted,
        backend,
        lambda: orphan_status(backend, request, backend.status(request)),
    )
    program.list_event("discarded", request, submit_dir)
    return words


def give_up_orphan(request: Request, submit_dir: str) -> str:
    """Note that it is gone with its storage. Raises ReservationFailed where the storage
    is there."""
    backend = open_backend(request.backend, request.settings)
    why = backend.why_other_storage("")
    if not why:
        raise ReservationFailed(
            f"nothing says that the storage of reservation {request.name} is gone; it "
            f"was kept. To drop what is on it: pegasus-bb release {request.name} "
            "--discard"
        )
    program.list_event("discarded", request, submit_dir)
    return f"reservation {request.name} was given up: {why}"
