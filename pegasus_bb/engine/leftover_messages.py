"""What a run that did not come to its end still holds, and how to drop it."""

from __future__ import annotations

from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import PegasusBBError, UsageError
from pegasus_bb.model.reservation import Reservation, State
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.storage_decision import decision_message, readable_decision
from pegasus_bb.units import format_size


def lost_messages(place: SubmitDir) -> list[str]:
    """Lines about the reservation that was up and is gone; none where it is not, or
    where nobody answers."""
    bb, noted = BBDir(str(place.bb)), _standing(place)
    if (
        noted is None
        or not reservation_identity.was_ready(bb, noted)
        or not _is_gone(bb, noted)
    ):
        return []
    return [
        f"lost:        reservation {noted.name} is not there any more, nor what lived "
        "only there",
        f"start over:  pegasus-bb run --restart {place.path}",
    ]


def leftover_messages(place: SubmitDir) -> list[str]:
    """Lines about the reservation that stands; none where there is nothing to keep."""
    moved = readable_decision(BBDir(str(place.bb)))
    if moved:
        return [f"note:        {decision_message(moved)}"]
    noted = _standing(place)
    if noted is None:
        return []
    size = format_size(noted.size)
    if not reservation_identity.was_ready(BBDir(str(place.bb)), noted):
        return [
            f"asked for:   reservation {noted.name} ({size}, {noted.backend}), which "
            "no job has had",
            f"to drop it:  pegasus-bb release {noted.name}",
        ]
    return [
        f"kept:        reservation {noted.name} ({size}, {noted.backend}) with its "
        "data, until it is given back",
        f"to drop it:  pegasus-bb release {noted.name} --discard",
    ]


def _standing(place: SubmitDir) -> Reservation | None:
    """What was asked for, and neither refused nor given back."""
    bb = BBDir(str(place.bb))
    try:
        noted = None if readable_decision(bb) else bb.reservation()
    except UsageError:  # whoever goes on is told what is wrong with it
        return None
    over = noted is None or noted.released_at is not None or noted.failure
    return None if over else noted


def _is_gone(bb: BBDir, noted: Reservation) -> bool:
    try:
        found = reservation_identity.status(bb, noted)
    except PegasusBBError:
        return False
    return found.state in (State.ABSENT, State.GONE)
