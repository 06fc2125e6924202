"""reservation.json is gone: what else tells whether a reservation is this run's."""

from __future__ import annotations

from typing import Optional

from pegasus_bb import ledger
from pegasus_bb.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.model.reservation import Request, Reservation, State
from pegasus_bb.reservation.base import Backend
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.files import read_json


def found_again(bb: BBDir, backend: Backend, request: Request) -> Optional[Reservation]:
    """The note as it must have been; None where the backend knows no reservation.

    Changes nothing. Raises SchedulerUnreachable, and ReservationFailed where what is
    there is not, or may not be, this run's.
    """
    if reservation_identity.last_place(bb):
        status = reservation_identity.status_without_notes(bb, backend, request)
    else:  # never up, so an empty place is not another than the one it was on
        status = backend.status(request)
    if status.state is State.UNKNOWN:
        raise SchedulerUnreachable(f"{request.name} was kept: {status.message}")
    if status.state in (State.ABSENT, State.GONE):
        return None
    asked = asked_at(bb, request)
    note = Reservation(
        name=request.name,
        backend=request.backend,
        uuid=request.uuid,
        requested_at=asked or status.created,
        size=request.capacity,
        owner=status.owner,
    )
    words = reservation_identity.mismatch(status, request, note)
    if not words and not asked and status.uuid != request.uuid:
        words = f"nothing says that reservation {request.name} is this run's"
    if words:
        raise ReservationFailed(f"{words}; it was kept")
    return note


def asked_at(bb: BBDir, request: Request) -> float:
    """When this run asked for it, as far as anything but the note tells; else 0."""
    try:
        return float(read_json(bb.file("ready.json"))["requested_at"])
    except (OSError, ValueError, TypeError, KeyError):
        pass
    for entry in ledger.find(request.name):
        if entry.get("uuid") == request.uuid and entry.get("event") == "requested":
            return ledger.number(entry.get("time"))
    return 0.0
