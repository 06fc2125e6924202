"""The steps of giving back: seen before, asked for its end, absent after."""

from __future__ import annotations

import time
from typing import Callable, Optional

from pegasus_bb.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.reservation.base import Backend
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.units import format_size


def release_reservation(
    request: Request,
    noted: Optional[Reservation],
    backend: Backend,
    look: Callable[[], Status],
) -> str:
    """Give it back with all that is on it; words for the user. ``look``: asks anew.

    Raises ReservationFailed, SchedulerUnreachable.
    """
    return _given_back(request, noted, backend, look, checked(request, noted, look()))


def give_back_unused(
    request: Request,
    noted: Optional[Reservation],
    backend: Backend,
    look: Callable[[], Status],
) -> str:
    """Give back what came up, or may yet, after the run had gone to the PFS; words for
    the user. What is not surely this run's is left alone.

    Raises ReservationFailed, SchedulerUnreachable.
    """
    status = look()
    if status.state is State.UNKNOWN:
        raise SchedulerUnreachable(f"{request.name} was kept: {status.message}")
    words = left_alone(request, noted, status)
    return words or _given_back(request, noted, backend, look, status)


def left_alone(request: Request, noted: Optional[Reservation], status: Status) -> str:
    """Why what bears the name is nothing to give back; empty where it is this run's, or
    there is none."""
    if status.state is State.ABSENT:
        return ""
    made = status.uuid or (noted is not None and (noted.job or noted.owner))
    words = reservation_identity.foreign(status, request, noted)
    if made and not words:
        return ""
    said = words or status.message or status.state.value
    return f"nothing of this run is there to give back ({said})"


def _given_back(
    request: Request,
    noted: Optional[Reservation],
    backend: Backend,
    look: Callable[[], Status],
    status: Status,
) -> str:
    backend.delete(request)  # where it is absent, a request that waits is withdrawn
    if status.state is State.ABSENT:
        return absent_already(request, noted)
    after = look()
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
    return f"reservation {request.name} ({format_size(status.size)}) was given back"


def checked(request: Request, noted: Optional[Reservation], status: Status) -> Status:
    """``status``, where it is known and of what this run asked for; raises else."""
    if status.state is State.UNKNOWN:
        raise SchedulerUnreachable(f"{request.name} was kept: {status.message}")
    if status.state is not State.ABSENT:
        words = reservation_identity.mismatch(status, request, noted)
        if words:
            raise ReservationFailed(f"{words}; it was kept")
    return status


def absent_already(request: Request, noted: Optional[Reservation]) -> str:
    """Words for one that is not there."""
    if noted is not None and noted.released_at is not None:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(noted.released_at))
        return f"reservation {request.name} was given back before, at {when}"
    return (
        f"reservation {request.name} is not there: nothing to give back. Either it "
        "never came up, or something else removed it"
    )
