"""What a run that did not come to its end still holds, and how to drop it."""

from __future__ import annotations

from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import UsageError
from pegasus_bb.model.reservation import Reservation
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.ours import was_ready
from pegasus_bb.runtime.settled import seen, words
from pegasus_bb.units import format_size


def kept(place: SubmitDir) -> list[str]:
    """Lines about the reservation that stands; none where there is nothing to keep."""
    moved = seen(BBDir(str(place.bb)))
    if moved:
        return [f"note:        {words(moved)}"]
    noted = _noted(place)
    if noted is None or noted.released_at is not None or noted.failure:
        return []
    size = format_size(noted.size)
    if not was_ready(BBDir(str(place.bb)), noted):
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


def _noted(place: SubmitDir) -> Reservation | None:
    try:
        return BBDir(str(place.bb)).reservation()
    except UsageError:  # whoever goes on is told what is wrong with it
        return None
