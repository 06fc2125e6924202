"""The steps of giving back: seen before, asked for its end, absent after."""

from __future__ import annotations

import time
from typing import Callable, Optional

from pegasus_bb.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.reservation.base import Backend
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime import program
from pegasus_bb.runtime.freed import tell_freed
from pegasus_bb.runtime.reservation_identity import foreign, mismatch, on_storage
from pegasus_bb.units import format_size


def release_reservation(
    request: Request,
    noted: Optional[Reservation],
    backend: Backend,
    status: Callable[[], Status],
    unused: bool = False,
) -> str:
    """Give the reservation back with all that is on it; a message.

    ``status`` asks the scheduler. ``unused``: no data of the run is on it, and what may
    be another run's is left alone. Raises ReservationFailed, SchedulerUnreachable.
    """
    found = status()
    left_alone = check_releasable(request, noted, found, unused)
    if left_alone:
        return left_alone
    backend.delete(request)  # where it is absent, a request that waits is withdrawn
    if found.state is State.ABSENT:
        return absent_message(request, noted)
    after = status()
    if after.state is State.UNKNOWN:
        raise SchedulerUnreachable(
            f"asked to give {request.name} back, but whether it is gone is not known: "
            f"{after.message}"
        )
    if after.state is not State.ABSENT:
        raise ReservationFailed(
            f"reservation {request.name} is still there after it was given back "
            f"({after.state.value}: {after.message})"
        )
    tell_freed(request)
    return f"reservation {request.name} ({format_size(found.size)}) was given back"


def check_releasable(
    request: Request, noted: Optional[Reservation], found: Status, unused: bool = False
) -> str:
    """Empty if the reservation is this run's, or absent.

    Raises SchedulerUnreachable, and ReservationFailed if it is not this run's. If it is
    ``unused``, that is no error: the message says why it is left alone.
    """
    if found.state is State.UNKNOWN:
        raise SchedulerUnreachable(f"{request.name} was kept: {found.message}")
    if found.state is State.ABSENT:
        return ""
    if not unused:
        why = mismatch(found, request, noted)
        if why:
            raise ReservationFailed(f"{why}; it was kept")
        return ""
    made = found.uuid or (noted is not None and (noted.job or noted.owner))
    why = foreign(found, request, noted)
    if made and not why:
        return ""
    reason = why or found.message or found.state.value
    return f"nothing of this run is there to give back ({reason})"


def absent_message(request: Request, noted: Optional[Reservation]) -> str:
    if noted is not None and noted.released_at is not None:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(noted.released_at))
        return f"reservation {request.name} was given back before, at {when}"
    return (
        f"reservation {request.name} is not there: nothing to give back. Either it "
        "never came up, or something else removed it"
    )


def why_storage_is_gone(request: Request, place: str) -> str:
    """Why the storage ``place`` is not there. Raises ReservationFailed if it may be."""
    backend = open_backend(request.backend, request.settings)
    why = backend.why_other_storage(place)
    if not why:
        raise ReservationFailed(
            f"nothing says that the storage of reservation {request.name} is gone; it "
            f"was kept. To drop what is on it: pegasus-bb release {request.name} "
            "--discard"
        )
    return why


def discard_orphan(request: Request, asked: float, submit_dir: str) -> str:
    """Give back, with all that is on it, what a run asked for at ``asked``, whose
    ``submit_dir`` is gone; a message.

    Only a user asks for that: nothing tells which data are safe. Raises
    ReservationFailed, SchedulerUnreachable.
    """
    backend = open_backend(request.backend, request.settings)
    message = release_reservation(
        request,
        Reservation(request.name, request.backend, request.uuid, asked),
        backend,
        lambda: on_storage(backend, request, "", backend.status(request)),
    )
    program.list_event("discarded", request, submit_dir)
    return message


def give_up_orphan(request: Request, submit_dir: str) -> str:
    """Record that the reservation of a run whose ``submit_dir`` is gone went with its
    storage. Raises ReservationFailed if the storage is there."""
    why = why_storage_is_gone(request, "")
    program.list_event("discarded", request, submit_dir)
    return f"reservation {request.name} was given up: {why}"
