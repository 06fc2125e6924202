"""Is what the scheduler shows what this run asked for, and was the run ever on it?"""

from __future__ import annotations

import time
from typing import Any, Dict, Optional

from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.reservation.base import Backend
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.files import read_json, write_json
from pegasus_bb.units import format_size

# The scheduler's clock and ours may differ, and it counts whole seconds.
_CLOCKS_DIFFER = 60.0
_READY = "ready.json"


def mismatch(status: Status, request: Request, noted: Optional[Reservation]) -> str:
    """Why what ``status`` shows is not what this run asked for; empty where it is."""
    words = foreign(status, request, noted)
    if words or not status.size or status.size >= request.capacity:
        return words
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
    bb: BBDir, backend: Backend, request: Request, noted: Optional[Reservation]
) -> Status:
    """What the backend says; UNKNOWN where its storage is not the one we were on."""
    return judged(bb, backend, request, noted, backend.status(request))


def status_now(bb: BBDir, noted: Reservation) -> Status:
    """``status`` of what this run has asked for. Raises UsageError."""
    request = bb.request()
    backend = open_backend(request.backend, request.settings)
    return status(bb, backend, request, noted)


def judged(
    bb: BBDir,
    backend: Backend,
    request: Request,
    noted: Optional[Reservation],
    found: Status,
) -> Status:
    """``status`` of what the backend has said already."""
    if noted is None or found.state not in (State.ABSENT, State.UNKNOWN):
        return found
    place = _place(bb, noted)
    if not place and not noted.owner:  # asked for, but never known to be made
        return found
    return elsewhere(backend, request, place) or found


def status_without_notes(bb: BBDir, backend: Backend, request: Request) -> Status:
    """As ``status`` where reservation.json is lost: it may well have been made."""
    found = backend.status(request)
    if found.state not in (State.ABSENT, State.UNKNOWN):
        return found
    return elsewhere(backend, request, last_place(bb)) or found


def elsewhere(backend: Backend, request: Request, place: str) -> Optional[Status]:
    """UNKNOWN, with words, where the storage cannot be the one called ``place``."""
    words = backend.why_other_storage(place)
    if not words:
        return None
    name = request.name
    return Status(
        State.UNKNOWN,
        f"{words}: is it mounted? Where it is gone for good, with all that was on it: "
        f"pegasus-bb release {name} --discard --gone {name}",
    )


def note_ready(bb: BBDir, noted: Reservation, status: Status) -> None:
    """Keep that it was up once: from now on, absent means gone."""
    if not was_ready(bb, noted):
        request = bb.request()
        place = open_backend(request.backend, request.settings).storage_id()
        found = {"requested_at": noted.requested_at, "size": status.size}
        found["created"] = status.created
        write_json(bb.file(_READY), {**found, "place": place, "time": time.time()})


def was_ready(bb: BBDir, noted: Reservation) -> bool:
    """Whether what ``noted`` asked for was ever up."""
    return bool(_ready(bb, noted))


def _place(bb: BBDir, noted: Reservation) -> str:
    """The id of the storage on which it was up; empty where it was not, or has none."""
    return str(_ready(bb, noted).get("place", ""))


def last_place(bb: BBDir) -> str:
    """The same, whichever request it was that came up last."""
    try:
        return str(read_json(bb.file(_READY)).get("place", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _ready(bb: BBDir, noted: Reservation) -> Dict[str, Any]:
    """What was noted when it came up; empty where it never did."""
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
