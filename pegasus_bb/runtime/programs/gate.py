"""Hold the first job back until the reservation is up: ``gate [--bb DIR]``.

The PRE script of create_dir. Each poll asks the scheduler one question and changes
nothing there, except that a folder tier grants what is due; DAGMan's DEFER asks again,
as long as the user allows. A reservation is
ready only if it is up, this run's, large enough and not older than the request.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence

from pegasus_bb.core.errors import (
    DeadlinePassed,
    PegasusBBError,
    ReservationFailed,
    ReservationNotReady,
    SchedulerUnreachable,
)
from pegasus_bb.core.files import read_json, write_json, write_text
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.units import format_duration
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.backends.backend_table import backend_of
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs import program
from pegasus_bb.runtime.storage_decision import (
    PFS,
    StorageDecision,
    decide_storage,
    decision_message,
    may_use_pfs,
    on_the_pfs,
    pfs_prefix,
)

if TYPE_CHECKING:
    from typing import Any

GATE = "gate.json"
REFUSAL = "gate.err"  # DAGMan keeps nothing of what a script says
USE = "use.bbf"  # the directives with which every job of the site is submitted
KEPT = "use.bbf.planned"  # the planned file, while the run is on the PFS
NONE = "# no burst buffer: this run is on the PFS (storage_decision.json says why)\n"
_WITHOUT = (ReservationFailed, DeadlinePassed, SchedulerUnreachable)


def main(argv: Sequence[str] | None = None) -> int:
    """0 ready; 75 not yet; 76 failed; 77 deadline; 78 no answer until the deadline."""
    return program.main(
        "gate", "Tell whether the reservation of a run is up.", poll, argv
    )


def poll(bb: BBDir) -> str:
    """Poll once; returns a message if it is ready, or if the run is on the PFS.

    Raises ReservationNotReady (ask again), and for good: ReservationFailed,
    DeadlinePassed, SchedulerUnreachable.
    """
    request = bb.request()
    decision = on_the_pfs(bb, request)
    if decision:
        return _continue_on_pfs(bb, decision)
    waited = _waited(bb)
    try:
        message = _check_status(bb, request)
    except (ReservationNotReady, SchedulerUnreachable) as error:
        if waited >= request.wait:
            return _refused(bb, request, _too_late(bb, error, request))
        allowed = format_duration(request.wait)
        _note_reason(bb, str(error))
        raise ReservationNotReady(
            f"not yet: {error}; waited {format_duration(waited)} of {allowed}"
        ) from error
    except PegasusBBError as error:
        return _refused(bb, request, error)
    _end_wait(bb)
    return message


def _refused(bb: BBDir, request: Request, error: PegasusBBError) -> str:
    """Continue on the PFS if the user allows that; otherwise raise ``error``."""
    decision = _fall_back(bb, request, error)
    if decision is not None:
        return _continue_on_pfs(bb, decision)
    _end_wait(bb, str(error))
    raise error


def _fall_back(
    bb: BBDir, request: Request, error: PegasusBBError
) -> StorageDecision | None:
    """The decision for the PFS; None if data of the run may be on the reservation."""
    if not isinstance(error, _WITHOUT):
        return None
    if not may_use_pfs(bb, request):
        return on_the_pfs(bb, request)  # another gate may have been faster
    noted = bb.reservation()
    if noted is not None and (noted.uuid != request.uuid or noted.released_at):
        return None
    prefix = pfs_prefix(bb.placement())
    wanted = StorageDecision(PFS, str(error), error.exit_code, prefix)
    decision = decide_storage(bb, wanted)
    return decision if decision.to == PFS else None


def _continue_on_pfs(bb: BBDir, decision: StorageDecision) -> str:
    """The message for a run on the PFS. The order allows to run a killed gate again."""
    _remove_directives(bb)
    _end_wait(bb)
    return decision_message(decision)


def _check_status(bb: BBDir, request: Request) -> str:
    noted = bb.reservation()
    if noted is None:
        raise ReservationNotReady("bb_setup has not asked yet")
    _check_noted(noted, request)
    backend_of(request).settle()
    status = reservation_identity.status(bb, noted)
    message = status.message or status.state.value
    if status.state is State.READY:
        return _ready(bb, status, request, noted)
    if status.state is State.UNKNOWN:
        raise SchedulerUnreachable(message)
    if status.state is State.ABSENT and reservation_identity.was_ready(bb, noted):
        if may_use_pfs(bb, request):
            raise ReservationFailed(
                f"reservation {request.name} was up and is gone: {message}; nothing "
                "was on it yet"
            )
        raise ReservationFailed(
            f"reservation {request.name} was up and is gone: {message}. Data that "
            f"lived only there is lost; `pegasus-bb run --restart {bb.submit_dir}` "
            "starts over"
        )
    if status.state in (State.ABSENT, State.PENDING, State.STAGING_IN):
        raise ReservationNotReady(message)
    raise ReservationFailed(
        f"reservation {request.name} is {status.state.value}: {message}"
    )


def _check_noted(noted: Reservation, request: Request) -> None:
    if noted.uuid != request.uuid:
        raise ReservationFailed(
            f"reservation.json is of run {noted.uuid}, not of this run {request.uuid}"
        )
    if noted.failure:
        raise ReservationFailed(noted.failure)
    if noted.released_at is not None:
        raise ReservationFailed(f"reservation {noted.name} was given back already")


def _ready(bb: BBDir, status: Status, request: Request, noted: Reservation) -> str:
    fault = reservation_identity.mismatch(status, request, noted)
    if fault:
        raise ReservationFailed(fault)
    reservation_identity.note_ready(bb, noted, status)
    if os.path.exists(bb.file(KEPT)):
        os.replace(bb.file(KEPT), bb.file(USE))
    return f"reservation {request.name} is ready; {status.message}"


def _too_late(bb: BBDir, error: PegasusBBError, request: Request) -> PegasusBBError:
    allowed = format_duration(request.wait)
    if isinstance(error, SchedulerUnreachable):
        return SchedulerUnreachable(f"no answer by the end of {allowed}: {error}")
    late = f"reservation {request.name} did not come up within {allowed} ({error})"
    if may_use_pfs(bb, request):
        return DeadlinePassed(late)
    return DeadlinePassed(
        f"{late}. It is still asked for: `pegasus-bb run` waits on, `pegasus-bb "
        f"release {request.name}` gives it back; --bb-wait says how long to wait"
    )


def _waited(bb: BBDir) -> float:
    now = time.time()
    try:
        return max(0.0, now - float(_wait(bb)["since"]))
    except (ValueError, TypeError, KeyError):
        write_json(bb.file(GATE), {"since": now})
        return 0.0


def _wait(bb: BBDir) -> dict[str, Any]:
    """The note of a wait: ``since`` and ``reason``; empty if there is none."""
    try:
        return dict(read_json(bb.file(GATE)))
    except (OSError, ValueError, TypeError):
        return {}


def waiting_reason(bb: BBDir) -> str | None:
    """Why the gate waits, by its last poll; empty before that, None if none waits."""
    is_waiting = os.path.exists(bb.file(GATE))
    return str(_wait(bb).get("reason", "")) if is_waiting else None


def _note_reason(bb: BBDir, reason: str) -> None:
    """Note it for `run` and `status`; once, while it stays the same."""
    if waiting_reason(bb) != reason:
        write_json(bb.file(GATE), {**_wait(bb), "reason": reason})


def _end_wait(bb: BBDir, refusal: str = "") -> None:
    """Note a final answer, so that the wait of a rescue run starts anew."""
    if refusal:
        write_text(bb.file(REFUSAL), refusal + "\n")
    for name in (GATE,) if refusal else (GATE, REFUSAL):
        if os.path.exists(bb.file(name)):
            with contextlib.suppress(FileNotFoundError):  # another gate was faster
                os.unlink(bb.file(name))


def _remove_directives(bb: BBDir) -> None:
    """Remove the directives from later submissions: Slurm would make the jobs wait for
    the buffer for ever. May be repeated."""
    if not os.path.exists(bb.file(USE)):
        return
    with open(bb.file(USE), encoding="utf-8") as source:
        if source.read() == NONE:
            return
    with contextlib.suppress(FileExistsError):  # killed in between, or two at once
        os.link(bb.file(USE), bb.file(KEPT))
    write_text(bb.file(USE), NONE)
