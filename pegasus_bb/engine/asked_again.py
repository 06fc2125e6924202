"""What was asked for, never came up and never will is asked for once more.

bb_setup had done its part when Slurm held the request, say: without it a later run
would go by that answer, whatever was mended since.
"""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from pegasus_bb.dag.nodes import Dag
from pegasus_bb.dag.roles import Role, of_role
from pegasus_bb.engine.before import users_of
from pegasus_bb.engine.redo import Redo
from pegasus_bb.engine.restart import aside
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.model.reservation import Reservation, State
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.storage_decision import on_the_pfs

_OVER = (State.FAILED, State.ABSENT, State.GONE)


def ask_again(place: SubmitDir, dag: Dag, done: Set[str]) -> Redo:
    """bb_setup, where it is to run again, and the note that is out of its way; nothing
    where the reservation was ever up, may still come, or nobody answers.

    Raises UsageError.
    """
    bb = BBDir(str(place.bb))
    setups = frozenset(of_role(done, Role.BB_SETUP))
    if not setups or not bb.has_request or on_the_pfs(bb, bb.request()):
        return Redo()
    noted = bb.reservation()
    if (
        noted is None
        or reservation_identity.has_progressed(bb, noted)
        or users_of(place, dag) & done
    ):
        return Redo()
    if noted.released_at is not None:
        why = f"reservation {noted.name} was given back before any job had it"
        return Redo(setups, (aside(Path(bb.file("reservation.json"))),), why)
    why = _why_over(bb, noted)
    return Redo(setups, why=why) if why else Redo()


def _why_over(bb: BBDir, noted: Reservation) -> str:
    status = reservation_identity.status(bb, noted)
    if status.state not in _OVER:
        return ""
    said = status.message or status.state.value
    return f"reservation {noted.name} never came up ({said})"
