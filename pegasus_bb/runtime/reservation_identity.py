"""Whether the reservation that the scheduler shows is this run's, and was ever used."""

from __future__ import annotations

import os
import time

from pegasus_bb.core import ledger
from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.core.files import read_json, write_json
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.units import format_size
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.backends.backend_table import backend_of
from pegasus_bb.runtime.backends.base import Backend
from pegasus_bb.runtime.bbdir import BBDir

if TYPE_CHECKING:
    from typing import Any

# The scheduler's clock and ours may differ, and it counts whole seconds.
_CLOCKS_DIFFER = 60.0
_READY = "ready.json"
GONE = (
    "Where it is gone for good, with all that was on it: pegasus-bb release {0} "
    "--discard --gone {0}"
)


def mismatch(status: Status, request: Request, noted: Reservation | None) -> str:
    """Why ``status`` is not of the reservation that this run requested; empty if it
    is."""
    why = foreign(status, request, noted)
    if why or not status.size or status.size >= request.capacity:
        return why
    return (
        f"reservation {request.name} has {format_size(status.size)}, less than the "
        f"{format_size(request.capacity)} that were asked for"
    )


def foreign(status: Status, request: Request, noted: Reservation | None) -> str:
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
    bb: BBDir, noted: Reservation | None, backend: Backend | None = None
) -> Status:
    """The status of the run's reservation at the scheduler.

    UNKNOWN if the storage is not the one that the run has used. Without ``noted``
    (reservation.json is lost) the reservation may exist. Raises UsageError.
    """
    request = bb.request()
    backend = backend or backend_of(request)
    return judge(bb, backend, request, noted, backend.status(request))


def judge(
    bb: BBDir,
    backend: Backend,
    request: Request,
    noted: Reservation | None,
    shown: Status,
) -> Status:
    """``status``, for an answer ``shown`` that the backend has given already."""
    if noted is None:
        return on_storage(backend, request, last_storage_id(bb), shown)
    if was_never_made(bb, noted) and (
        shown.state is State.ABSENT or backend.is_uninitialised()
    ):  # a tier whose root is missing as a whole holds no reservation either
        return Status(State.ABSENT, f"it was never made: {noted.failure}")
    ready = _ready(bb, noted)
    if _was_never_its_own(shown, request, ready.get("unaccounted")):
        shown = Status(State.ABSENT, f"no {request.name} is listed any more")
    place = str(ready.get("place", ""))
    if not place and not noted.owner:  # requested, but not known to exist
        return shown
    return on_storage(backend, request, place, shown)


def _was_never_its_own(shown: Status, request: Request, before: Any) -> bool:
    """Whether bytes in use that put a missing reservation in doubt were in use
    ``before``, when it was ready."""
    if shown.state is not State.UNKNOWN or not isinstance(before, int):
        return False
    return 0 < shown.unaccounted < before + request.capacity


def on_storage(backend: Backend, request: Request, place: str, shown: Status) -> Status:
    """``shown``, or UNKNOWN if the reservation may be on storage that is not mounted.
    ``place`` is the id of its storage, empty if unknown."""
    if shown.state not in (State.ABSENT, State.UNKNOWN):
        return shown
    why = backend.why_other_storage(place)
    if not why:
        return shown
    return Status(State.UNKNOWN, f"{why}: is it mounted? {GONE.format(request.name)}")


def note_ready(bb: BBDir, noted: Reservation, status: Status) -> None:
    """Note that the reservation was ready: from now on, absent means gone."""
    if not was_ready(bb, noted):
        request = bb.request()
        note = {
            "requested_at": noted.requested_at,
            "size": status.size,
            "created": status.created,
            "place": backend_of(request).storage_id(),
            "unaccounted": status.unaccounted,
            "time": time.time(),
        }
        write_json(bb.file(_READY), note)


def was_ready(bb: BBDir, noted: Reservation) -> bool:
    """Whether the reservation of ``noted`` was ever ready."""
    return bool(_ready(bb, noted))


def last_storage_id(bb: BBDir) -> str:
    """The id of the storage of a reservation of the run that was ready; else empty."""
    return str(_last_ready(bb).get("place", ""))


def forget_storage(bb: BBDir) -> None:
    """The storage will not come back: another one may take its place."""
    note = _last_ready(bb)
    if note:
        write_json(bb.file(_READY), {**note, "place": ""})


def _ready(bb: BBDir, noted: Reservation) -> dict[str, Any]:
    """The note of ``note_ready`` for ``noted``; empty if there is none."""
    note = _last_ready(bb)
    return note if note.get("requested_at") == noted.requested_at else {}


def _last_ready(bb: BBDir) -> dict[str, Any]:
    """The note of ``note_ready``, of any request; empty if none can be read."""
    try:
        note = read_json(bb.file(_READY))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def has_progressed(bb: BBDir, noted: Reservation) -> bool:
    """Whether the reservation may have had data of this run that is nowhere else."""
    if was_ready(bb, noted):
        return True
    return bool(manifest.read(bb.file("manifest.jsonl"), noted.uuid))


def was_never_made(bb: BBDir, noted: Reservation) -> bool:
    """Whether the request was refused, and no reservation was ever ready or staged
    out."""
    if not noted.was_refused:
        return False
    return not os.path.lexists(bb.file(_READY)) and not has_progressed(bb, noted)


def recover_note(bb: BBDir) -> Reservation | None:
    """The contents of a lost reservation.json; None if there is no reservation.

    Changes nothing. Raises SchedulerUnreachable, and ReservationFailed if the
    reservation is not, or may not be, this run's.
    """
    request = bb.request()
    if last_storage_id(bb):
        shown = status(bb, None)
    else:  # it was never ready, so there is no other storage to compare with
        shown = backend_of(request).status(request)
    if shown.state is State.UNKNOWN:
        raise SchedulerUnreachable(f"{request.name} was kept: {shown.message}")
    if shown.state.is_missing:
        return None
    asked = requested_at(bb)
    note = Reservation.of(request, asked or shown.created, owner=shown.owner)
    why = mismatch(shown, request, note)
    if not why and not asked and shown.uuid != request.uuid:
        why = f"nothing says that reservation {request.name} is this run's"
    if why:
        raise ReservationFailed(f"{why}; it was kept")
    return note


def requested_at(bb: BBDir) -> float:
    """When the run requested its reservation, by ready.json or the ledger; else 0."""
    try:
        return float(_last_ready(bb)["requested_at"])
    except (ValueError, TypeError, KeyError):
        pass
    request = bb.request()
    for entry in ledger.find(request.name):
        if entry.get("uuid") == request.uuid and entry.get("event") == "requested":
            return ledger.number(entry.get("time"))
    return 0.0
