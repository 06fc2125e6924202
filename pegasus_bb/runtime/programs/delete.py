"""Releases the reservation of a run: ``delete [--bb DIR]``, the job bb_delete.

It does so only if every promised result is at its destination with the right size and
digest. Otherwise it keeps everything and says how to continue. It relies on no edge of
the DAG, no exit code and no name. Only `pegasus-bb release NAME --discard` discards
data that is not safe.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence

from pegasus_bb.core.errors import DataNotSafe, ReservationFailed, UsageError
from pegasus_bb.core.units import format_count, format_size
from pegasus_bb.model.reservation import Request, Reservation, State
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.backends import identity
from pegasus_bb.runtime.backends.backend_table import backend_of
from pegasus_bb.runtime.backends.base import Backend
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs import program
from pegasus_bb.runtime.release_steps import (
    absent_message,
    check_releasable,
    release_command,
    release_reservation,
    why_storage_is_gone,
)
from pegasus_bb.runtime.results_guard import ResultsGuard, Unsafe
from pegasus_bb.runtime.storage_decision import (
    StorageDecision,
    decision_message,
    on_the_pfs,
)

# Why a release loses nothing, according to the caller; it is checked anyway.
UNUSED = "no job ever had it"
NO_RESULTS = "no task of its run has made a result: going on would run each again"

_SHOWN = 10  # unsafe results in a message; further ones are only counted


def main(argv: Sequence[str] | None = None) -> int:
    """0 released; 79 kept, data is not safe; 76 not released; 78 no answer."""
    about = "Give the reservation of a run back."
    return program.main("delete", about, release, argv)


def release(
    bb: BBDir,
    *,
    discard: bool = False,
    why_nothing_lost: str = "",
    dry_run: bool = False,
) -> str:
    """Release the run's reservation; returns a message.

    ``discard``: even if results are lost. ``why_nothing_lost``: UNUSED or NO_RESULTS;
    the results are checked anyway if there is evidence against it. ``dry_run``: change
    nothing, and report what would be done. Raises DataNotSafe, ReservationFailed,
    SchedulerUnreachable; everything is kept then.
    """
    request = bb.request()
    noted = _noted(bb)
    backend = backend_of(request)
    decision = on_the_pfs(bb, request)
    if decision and not (discard or why_nothing_lost):
        _check_on_the_pfs(bb, decision)
    if not decision:
        if not discard:
            noted = _find_note(bb, noted, dry_run=dry_run)
        not_there = _not_there(bb, noted, backend, dry_run=dry_run)
        if not_there:
            return not_there
        if not discard:
            check_results(bb, backend, why_nothing_lost)
    if dry_run:
        return _would_release(bb, noted, decision, why_nothing_lost)
    message = release_reservation(
        request,
        noted,
        backend,
        lambda: reservation_identity.status(bb, noted, backend),
        unused=decision is not None,
    )
    if decision is None:
        _note_end(bb, noted, "discarded" if discard else "released")
        return message
    if noted is not None and (noted.job or noted.owner):
        _note_end(bb, noted, "released")
    elif noted is not None:
        _list_end(bb, "refused")
    return f"{message}. The run was on the PFS"


def _would_release(
    bb: BBDir,
    noted: Reservation | None,
    decision: StorageDecision | None,
    why_nothing_lost: str,
) -> str:
    request = bb.request()
    status = reservation_identity.status(bb, noted)
    unused = decision is not None
    left_alone = check_releasable(request, noted, status, unused=unused)
    if left_alone or status.state is State.ABSENT:
        return left_alone or absent_message(request, noted)
    why = why_nothing_lost or "every promised result is safe"
    if unused:
        why = "the run is on the PFS, nothing is on it"
    return f"{status.state.value}; {why}"


def _check_on_the_pfs(bb: BBDir, decision: StorageDecision) -> None:
    unsafe = list(ResultsGuard(bb).unsafe())
    if unsafe:
        placement = bb.placement()
        lines = [
            f"{len(unsafe)} of {len(placement['outputs'])} promised results are "
            f"not safe; {decision_message(decision)}",
            *_listed(unsafe),
            f"look:    the files that remain are in {placement.get('pfs_scratch', '')}",
            f"resume:  pegasus-bb run {shlex.quote(bb.submit_dir)}",
        ]
        raise DataNotSafe("\n".join(lines))


def give_up(bb: BBDir) -> str:
    """Record that the run's reservation is gone with its storage; returns a message.

    Nothing is removed. Raises ReservationFailed if the storage is there: then the
    reservation can be released.
    """
    request = bb.request()
    noted = _noted(bb)
    why = why_storage_is_gone(request, reservation_identity.last_storage_id(bb))
    was_used = noted is None or reservation_identity.has_progressed(bb, noted)
    lost = list(ResultsGuard(bb, read_all=False).unsafe()) if was_used else []
    _note_end(bb, noted, "discarded")
    reservation_identity.forget_storage(bb)
    lines = [f"reservation {request.name} was given up: {why}"]
    if lost:
        lines.append(f"lost with it: {format_count(len(lost), 'promised result')}")
        lines += _listed(lost)
    return "\n".join(lines)


def _noted(bb: BBDir) -> Reservation | None:
    """The note of setup. Raises ReservationFailed if it is of another run."""
    request = bb.request()
    noted = bb.reservation()
    if noted is not None and noted.uuid != request.uuid:
        raise ReservationFailed(
            f"reservation.json is of run {noted.uuid}, not of this run {request.uuid}; "
            "nothing was given back"
        )
    return noted


def _find_note(
    bb: BBDir, noted: Reservation | None, *, dry_run: bool
) -> Reservation | None:
    """The note, recovered if it was lost."""
    if noted is None:
        noted = reservation_identity.recover_note(bb)
        if noted is not None and not dry_run:
            bb.note_reservation(noted)
    return noted


def _not_there(
    bb: BBDir, noted: Reservation | None, backend: Backend, *, dry_run: bool
) -> str:
    """A message if there never was a reservation, or if it was given back before; else
    empty."""
    request = bb.request()
    name = request.name
    if noted is None:
        if reservation_identity.requested_at(bb):
            return ""
        _check_planned(bb)
        return f"reservation {name} was never asked for"
    is_returned = noted.released_at is not None
    if not is_returned and not reservation_identity.was_never_made(bb, noted):
        return ""
    state = reservation_identity.status(bb, noted, backend).state
    if is_returned:
        gone = state in (State.ABSENT, State.UNKNOWN)
        return absent_message(request, noted) if gone else ""
    if state is not State.ABSENT:
        return ""
    if not dry_run:
        _list_end(bb, "refused")
    return (
        f"reservation {name} was never made, so there is nothing to "
        f"give back: it was refused ({noted.failure})"
    )


def _check_planned(bb: BBDir) -> None:
    bb.placement()
    if not os.path.exists(bb.file("plan.json")):
        raise UsageError(
            f"{bb.file('plan.json')} is missing: planning did not come to its end, and "
            "nothing was asked for; plan again"
        )


def _note_end(bb: BBDir, noted: Reservation | None, event: str) -> None:
    request = bb.request()
    noted = noted or Reservation(request.name, request.backend, request.uuid, 0.0)
    released_at = noted.released_at or time.time()  # the first time counts
    bb.note_reservation(noted._replace(released_at=released_at))
    _list_end(bb, event)


def _list_end(bb: BBDir, event: str) -> None:
    program.list_event(event, bb.request(), bb.submit_dir)


def check_results(bb: BBDir, backend: Backend, why_nothing_lost: str = "") -> None:
    """Raises DataNotSafe if a release would lose a promised result."""
    buffer = seen_from_here(bb.request(), backend)
    if why_nothing_lost == UNUSED and not _was_used(bb, buffer):
        return
    unsafe = list(ResultsGuard(bb, buffer).unsafe())
    if why_nothing_lost == NO_RESULTS and not (
        _has_saved(bb) or remaining(bb, unsafe, buffer)
    ):
        return
    if unsafe:
        raise DataNotSafe(_not_safe_message(bb, unsafe, buffer, backend))


def _has_vanished(bb: BBDir, backend: Backend) -> bool:
    """Whether the reservation was ready, and is not there any more."""
    noted = bb.reservation()
    if noted is None or not reservation_identity.was_ready(bb, noted):
        return False
    return reservation_identity.status(bb, noted, backend).state.is_missing


def _was_used(bb: BBDir, buffer: str) -> bool:
    if os.path.lexists(bb.file("ready.json")) or _has_saved(bb):
        return True
    try:
        return bool(buffer) and set(os.listdir(buffer)) != {identity.FILE}
    except OSError:
        return True


def _has_saved(bb: BBDir) -> bool:
    return os.path.lexists(bb.file("manifest.jsonl"))


def file_folders(bb: BBDir, request: Request, buffer: str) -> list[str]:
    """Folders with files of the run, as this machine sees them, the reservation
    first."""
    placement = bb.placement()
    below = str(placement.get("scratch", ""))[len(request.prefix) :].strip("/")
    on_buffer = os.path.join(buffer, below) if buffer else ""
    return [on_buffer, str(placement.get("pfs_scratch", ""))]


def seen_from_here(request: Request, backend: Backend) -> str:
    """The path of the reservation; empty if this machine does not see it."""
    try:
        return backend.path(request, os.environ)
    except ReservationFailed:
        return ""


def _not_safe_message(
    bb: BBDir, unsafe: list[Unsafe], buffer: str, backend: Backend
) -> str:
    request = bb.request()
    about = f"{request.name} ({format_size(request.capacity)}, {request.backend})"
    promised = len(bb.placement().get("outputs", {}))
    count = f"{len(unsafe)} of {promised} promised results are"
    submit_dir = shlex.quote(bb.submit_dir)
    discard = release_command(request.name, loses_nothing=False)
    if _has_vanished(bb, backend):
        left = _first([f"  {path}" for path in remaining(bb, unsafe, buffer)])
        lines = [
            f"reservation {about} is not there any more: {count} "
            f"{'not safe' if left else 'lost'}",
            *_listed(unsafe),
            *(["still there, to be copied by hand:", *left] if left else []),
            f"start over: pegasus-bb run --restart {submit_dir}",
            f"forget it:  {discard}",
        ]
    else:
        lines = [
            f"kept reservation {about}: {count} not safe",
            *_listed(unsafe),
            *_remaining_lines(bb, unsafe, buffer),
            f"resume:  pegasus-bb run {submit_dir}",
            f"discard: {discard}",
        ]
    return "\n".join(lines)


def _remaining_lines(bb: BBDir, unsafe: list[Unsafe], buffer: str) -> list[str]:
    request = bb.request()
    scratch = str(bb.placement().get("scratch", ""))
    if not scratch.startswith(request.prefix):
        return []
    below = scratch[len(request.prefix) :].strip("/")
    if not buffer:
        where = f"{below or '.'} on {request.name}, which cannot be seen from here"
        return [f"look:    the files that remain are in {where}"]
    left = remaining(bb, unsafe, buffer)
    if not left:
        return [f"look:    none of them is in {os.path.join(buffer, below)}"]
    lines = [f"still on {request.name}, to be copied by hand or by stage-out:"]
    return lines + _first([f"  {path}" for path in left])


def remaining(bb: BBDir, unsafe: Sequence[Unsafe], buffer: str) -> list[str]:
    """Existing paths of the unsafe results; through its link if one is on the PFS."""
    folders = [folder for folder in file_folders(bb, bb.request(), buffer) if folder]
    found: list[str] = []
    for each in unsafe:
        paths = [os.path.join(folder, each.lfn) for folder in folders]
        found += [path for path in paths if os.path.exists(path)][:1]
    return found


def _listed(unsafe: list[Unsafe]) -> list[str]:
    return _first([f"  {each.lfn}: {each.why}" for each in unsafe])


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return lines[:_SHOWN] + ([f"  ... and {more} more"] if more > 0 else [])
