"""Is what the scheduler shows what this run asked for, and was the run ever on it?"""

from __future__ import annotations

import time
from typing import Any, Dict, Optional

from pegasus_bb import ledger
from pegasus_bb.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.files import read_json, write_json
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.reservation.base import Backend
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.units import format_size

# The scheduler's clock and ours may differ, and it counts whole seconds.
_CLOCKS_DIFFER = 60.0
_READY = "ready.json"


def mismatch(status: Status, request: Request, noted: Optional[Reservation]) -> str:
    """Why ``status`` does not show what this run asked for; empty if it does."""
    why = foreign(status, request, noted)
    if why or not status.size or status.size >= request.capacity:
        return why
    return (
        f"reservation {request.name} has {format_size(status.size)}, less than the "
        f"{format_size(request.capacity)} that were asked for"
    )


def foreign(status: Status, request: Request, noted: Optional[Reservation]) -> str:
    """Why the reservation of ``status`` is not this run's; empty if it is."""
    name = f"reservation {request.name}"
    if status.uuid and status.uuid != request.uuid:
        return f"{name} belongs to run {status.uuid}, not to this run {request.uuid}"
    if noted and noted.owner and status.owner and status.owner != noted.owner:
        return f"{name} belongs to {status.owner}, not to {noted.owner}"
    asked = noted.requested_at if noted else 0.0
    if status.created and not status.uuid and status.created < asked - _CLOCKS_DIFFER:
        made = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(status.created))
        return (
            f"{name} was made {made}, before this run asked for it: it is left over "
            "from another run and may hold its data"
        )
    return ""


def status(
    bb: BBDir, noted: Optional[Reservation], backend: Optional[Backend] = None
) -> Status:
    """What the scheduler says about the run's reservation.

    UNKNOWN if the storage is not the one that the run was on. Without ``noted``
    (reservation.json is lost) the reservation may have been made. Raises UsageError.
    """
    request = bb.request()
    backend = backend or open_backend(request.backend, request.settings)
    return judge(bb, backend, request, noted, backend.status(request))


def judge(
    bb: BBDir,
    backend: Backend,
    request: Request,
    noted: Optional[Reservation],
    found: Status,
) -> Status:
    """``status`` if the backend has answered ``found`` already."""
    if noted is None:
        return on_storage(backend, request, last_place(bb), found)
    place = str(_ready(bb, noted).get("place", ""))
    if not place and not noted.owner:  # asked for, but never known to be made
        return found
    return on_storage(backend, request, place, found)


def on_storage(backend: Backend, request: Request, place: str, found: Status) -> Status:
    """``found``, or UNKNOWN if the reservation may be on a storage that is not mounted:
    ``place`` is the id of the one it was on, empty if none is known."""
    if found.state not in (State.ABSENT, State.UNKNOWN):
        return found
    why = backend.why_other_storage(place)
    if not why:
        return found
    name = request.name
    return Status(
        State.UNKNOWN,
        f"{why}: is it mounted? Where it is gone for good, with all that was on it: "
        f"pegasus-bb release {name} --discard --gone {name}",
    )


def note_ready(bb: BBDir, noted: Reservation, status: Status) -> None:
    """Record that the reservation was up: from now on, absent means gone."""
    if not was_ready(bb, noted):
        request = bb.request()
        found = {
            "requested_at": noted.requested_at,
            "size": status.size,
            "created": status.created,
            "place": open_backend(request.backend, request.settings).storage_id(),
            "time": time.time(),
        }
        write_json(bb.file(_READY), found)


def was_ready(bb: BBDir, noted: Reservation) -> bool:
    """Whether what ``noted`` asked for was ever up."""
    return bool(_ready(bb, noted))


def last_place(bb: BBDir) -> str:
    """The id of the storage on which a reservation of the run was up; else empty."""
    try:
        return str(read_json(bb.file(_READY)).get("place", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _ready(bb: BBDir, noted: Reservation) -> Dict[str, Any]:
    """What was noted when it came up; empty if it never did."""
    try:
        found = read_json(bb.file(_READY))
        if found["requested_at"] == noted.requested_at:
            return dict(found)
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return {}


def has_progressed(bb: BBDir, noted: Reservation) -> bool:
    """Whether work of this run may have lived on the reservation and nowhere else."""
    if was_ready(bb, noted):
        return True
    return bool(manifest.read(bb.file("manifest.jsonl"), noted.uuid))


def found_again(bb: BBDir) -> Optional[Reservation]:
    """The lost reservation.json as it must have been; None if there is no reservation.

    Changes nothing. Raises SchedulerUnreachable, and ReservationFailed if what is there
    is not, or may not be, this run's.
    """
    request = bb.request()
    if last_place(bb):
        found = status(bb, None)
    else:  # never up, so an empty place is not another than the one it was on
        found = open_backend(request.backend, request.settings).status(request)
    if found.state is State.UNKNOWN:
        raise SchedulerUnreachable(f"{request.name} was kept: {found.message}")
    if found.state in (State.ABSENT, State.GONE):
        return None
    asked = asked_at(bb)
    note = Reservation(
        name=request.name,
        backend=request.backend,
        uuid=request.uuid,
        requested_at=asked or found.created,
        size=request.capacity,
        owner=found.owner,
    )
    why = mismatch(found, request, note)
    if not why and not asked and found.uuid != request.uuid:
        why = f"nothing says that reservation {request.name} is this run's"
    if why:
        raise ReservationFailed(f"{why}; it was kept")
    return note


def asked_at(bb: BBDir) -> float:
    """When the run asked for its reservation, by ready.json or the ledger; else 0."""
    try:
        return float(read_json(bb.file(_READY))["requested_at"])
    except (OSError, ValueError, TypeError, KeyError):
        pass
    request = bb.request()
    for entry in ledger.find(request.name):
        if entry.get("uuid") == request.uuid and entry.get("event") == "requested":
            return ledger.number(entry.get("time"))
    return 0.0
