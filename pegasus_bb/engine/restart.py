"""Starting over: what an earlier run has noted is moved aside, never deleted."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.bbdir import ELSEWHERE, BBDir
from pegasus_bb.runtime.job_reservation.results import NOTES
from pegasus_bb.runtime.storage_decision import DECISION_FILE, on_the_pfs

_GONE = (State.ABSENT, State.GONE)


def start_over(place: SubmitDir) -> list[Path]:
    """Move journal, rescue files and the reservation's notes aside; where they went.

    Raises ReservationFailed where the reservation still stands: what is on it may be
    saved nowhere else.
    """
    _check_reservation(place)
    notes = [
        place.bb / name
        for name in ("reservation.json", "manifest.jsonl", DECISION_FILE)
    ]
    folders = (NOTES, ELSEWHERE)
    notes += [place.bb / name for name in ("gate.json", *folders)]
    old = [place.journal, *place.rescues(), *notes]
    return [aside(file) for file in old if file.exists()]


def _check_reservation(place: SubmitDir) -> None:
    bb = BBDir(str(place.bb))
    if not bb.has_request:
        return
    request = bb.request()
    if on_the_pfs(bb, request):
        return  # nothing of the run is on one that came up late
    noted = bb.reservation()
    if noted is None and reservation_identity.asked_at(bb):
        noted = reservation_identity.found_again(bb)
    if noted is None or noted.released_at is not None:
        return
    status = reservation_identity.status(bb, noted)
    never = bool(noted.failure) or not reservation_identity.has_progressed(bb, noted)
    refused = status.state is State.FAILED and never
    if status.state in _GONE or refused:
        return
    if status.state is State.UNKNOWN:
        raise SchedulerUnreachable(
            f"nobody answers whether {request.name} still stands ({status.message}); "
            "starting over could lose what is on it: try again later"
        )
    raise ReservationFailed(
        f"reservation {request.name} still stands ({status.state.value}) and may hold "
        "results that are saved nowhere else; go on with it: "
        f"pegasus-bb run {place.path}; or give it up with what is on it: "
        f"pegasus-bb release {request.name} --discard; then --restart"
    )


def aside(file: Path) -> Path:
    """Give ``file`` the next free number behind its name."""
    number = 0
    while (target := file.with_name(f"{file.name}.{number:03d}")).exists():
        number += 1
    return file.rename(target)
