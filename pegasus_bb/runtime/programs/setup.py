"""Requests the reservation of a run: ``setup [--bb DIR]``, the job bb_setup.

Returns once the scheduler has the request; the gate waits until the reservation is up.
May be repeated at any time. The ledger and reservation.json list the reservation before
it exists, so a kill leaves no reservation unlisted.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.core.units import format_size
from pegasus_bb.model.reservation import (
    Request,
    Reservation,
    State,
    check_reservation_name,
)
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.backends.backend_table import backend_of
from pegasus_bb.runtime.backends.base import Backend
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs import program
from pegasus_bb.runtime.storage_decision import (
    decision_message,
    may_use_pfs,
    on_the_pfs,
)

_UP_OR_COMING = (State.PENDING, State.STAGING_IN, State.READY)
_LOST = (
    "data that lived only there is lost. Start over with `pegasus-bb run --restart {}`"
)


def main(argv: Sequence[str] | None = None) -> int:
    """0 requested, or already ours; 76 refused; 78 no answer."""
    return program.main("setup", "Ask for the reservation of a run.", setup, argv)


def setup(bb: BBDir) -> str:
    """Request the run's reservation, unless it exists; returns a message.

    Raises ReservationFailed (noted, so that the gate fails too), SchedulerUnreachable.
    With the fallback pfs the gate handles a refusal, and this raises nothing.
    """
    request = bb.request()
    decision = on_the_pfs(bb, request)
    if decision:
        return f"nothing is asked for: {decision_message(decision)}"
    try:
        return _request_once(bb, request)
    except ReservationFailed as error:
        if not _is_left_to_the_gate(bb, request, str(error)):
            raise
        return f"{error}; pegasus.bb.fallback is pfs: the gate decides"


def _is_left_to_the_gate(bb: BBDir, request: Request, message: str) -> bool:
    noted = bb.reservation()
    if noted is None or noted.failure != message or noted.released_at is not None:
        return False
    return may_use_pfs(bb, request)


def _request_once(bb: BBDir, request: Request) -> str:
    check_reservation_name(request.name)
    backend = backend_of(request)
    backend.settle()
    try:
        if _is_ours_already(bb):
            return f"reservation {request.name} is this run's already"
    except SchedulerUnreachable:
        if not _was_never_made(bb, backend):
            raise
    return _request(bb, request, backend)


def _is_ours_already(bb: BBDir) -> bool:
    noted = bb.reservation()
    if noted is None and reservation_identity.requested_at(bb):
        noted = reservation_identity.recover_note(bb)
    return noted is not None and _is_up(bb, bb.request(), noted)


def _was_never_made(bb: BBDir, backend: Backend) -> bool:
    """Whether an earlier bb_setup was killed before its request: nothing was ever
    ready, and the folder of the tier, which the first reservation makes, does not
    exist."""
    noted = bb.reservation()
    known = noted is not None and noted.owner
    up = reservation_identity.last_storage_id(bb) or (
        noted is not None and reservation_identity.has_progressed(bb, noted)
    )
    return not known and not up and backend.is_uninitialised()


def _is_up(bb: BBDir, request: Request, noted: Reservation) -> bool:
    if noted.uuid != request.uuid:
        raise ReservationFailed(
            f"{bb.file('reservation.json')} notes reservation {noted.name} of run "
            f"{noted.uuid}, not of this run {request.uuid}; give that back with "
            f"`pegasus-bb release {noted.name}`, then plan again"
        )
    if noted.released_at is not None:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(noted.released_at))
        raise _refusal(bb, noted, f"was given back at {when}")
    status = reservation_identity.status(bb, noted)
    if status.state is State.UNKNOWN:
        raise SchedulerUnreachable(status.message)
    if status.state in _UP_OR_COMING:
        message = reservation_identity.mismatch(status, request, noted)
        if message:
            raise _note_failure(bb, noted, message)
        bb.note_reservation(noted._replace(owner=status.owner, failure=""))
        return True
    if reservation_identity.has_progressed(bb, noted):
        message = status.message or status.state.value
        raise _refusal(bb, noted, f"is not there any more ({message})")
    return False


def _request(bb: BBDir, request: Request, backend: Backend) -> str:
    intent = Reservation.of(request, time.time())
    program.list_request(bb, request)
    bb.note_reservation(intent)
    try:
        result = backend.create(request)
    except ReservationFailed as error:
        raise _note_failure(bb, intent, str(error)) from error
    bb.note_reservation(result._replace(requested_at=intent.requested_at))
    by = f" (job {result.job})" if result.job else ""
    return (
        f"asked {request.backend} for {format_size(request.capacity)} as "
        f"{request.name}{by}"
    )


def _refusal(bb: BBDir, noted: Reservation, what: str) -> ReservationFailed:
    if noted.released_at is None and may_use_pfs(bb, bb.request()):
        return _note_failure(
            bb, noted, f"reservation {noted.name} {what}, nothing was on it"
        )
    lost = _LOST.format(bb.submit_dir)
    return _note_failure(bb, noted, f"reservation {noted.name} {what}: {lost}")


def _note_failure(bb: BBDir, noted: Reservation, message: str) -> ReservationFailed:
    """Note the refusal for the gate; returns the error to raise."""
    bb.note_reservation(noted._replace(failure=message))
    return ReservationFailed(message)
