"""Give the reservation of a run back: ``delete [--bb DIR]``, the job bb_delete.

Only when every promised result is at its destination with the right size and digest;
else it keeps everything and says how to go on. Nothing here trusts the graph, an exit
code or a name. Only `pegasus-bb release NAME --discard` drops data that is not safe.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from dataclasses import replace
from typing import Iterator, List, Optional, Sequence, Tuple

from pegasus_bb.errors import (
    DataNotSafe,
    ReservationFailed,
    SchedulerUnreachable,
    UsageError,
)
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.reservation import identity
from pegasus_bb.reservation.base import Backend
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime import program, reservation_identity
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.lost_note import asked_at, found_again
from pegasus_bb.runtime.release import (
    absent_already,
    checked,
    give_back_unused,
    left_alone,
    release_reservation,
)
from pegasus_bb.runtime.results_guard import Unsafe, unsafe_results
from pegasus_bb.runtime.storage_decision import (
    StorageDecision,
    decision_message,
    on_the_pfs,
)
from pegasus_bb.units import format_size

# Why nothing can be lost, as a caller knows it; checked against what is there.
UNUSED = "no job ever had it"
NO_RESULTS = "no task of its run has made a result: going on would run each again"

_SHOWN = 10  # of the results that are not safe; the rest is counted


def main(argv: Optional[Sequence[str]] = None) -> int:
    """0: given back; 79 kept, data is not safe; 76 it stays; 78 no answer."""
    options = program.parser("delete", "Give the reservation of a run back.")
    given = options.parse_args(argv)
    return program.answer("delete", lambda: release(program.bb_dir(given)))


def release(bb: BBDir, discard: bool = False, why_nothing_lost: str = "") -> str:
    """Give the run's reservation back; words for the user.

    ``discard``: even where results would be lost. ``why_nothing_lost``: UNUSED or
    NO_RESULTS; results are guarded all the same where anything here tells otherwise.
    Raises DataNotSafe, ReservationFailed, SchedulerUnreachable; everything was kept
    then.
    """
    request, noted = bb.request(), _noted(bb)
    backend = open_backend(request.backend, request.settings)
    decision = on_the_pfs(bb, request)
    if decision:
        if not discard:
            _check_on_the_pfs(bb, request, decision, why_nothing_lost)
        return _release_unused(bb, request, noted, backend)
    if not discard:
        was_noted = noted is not None
        noted, nothing = _nothing_there(bb, request, noted, backend)
        if nothing:
            if noted is not None:
                _list_end(bb, request, "refused")
            return nothing
        if noted is not None and not was_noted:
            bb.note_reservation(noted)
        check_results(bb, backend, why_nothing_lost)
    words = release_reservation(
        request, noted, backend, lambda: _status(bb, request, noted, backend)
    )
    _note_end(bb, request, noted, "discarded" if discard else "released")
    return words


def _release_unused(
    bb: BBDir, request: Request, noted: Optional[Reservation], backend: Backend
) -> str:
    """Of a run on the PFS: nothing of it is on what is given back."""
    words = give_back_unused(
        request, noted, backend, lambda: _status(bb, request, noted, backend)
    )
    if noted is not None and (noted.job or noted.owner):
        _note_end(bb, request, noted, "released")
    elif noted is not None:
        _list_end(bb, request, "refused")
    return f"{words}. The run was on the PFS"


def _check_on_the_pfs(
    bb: BBDir, request: Request, found: StorageDecision, why_nothing_lost: str
) -> None:
    """Raises DataNotSafe, where it matters: nothing of the run is on the reservation,
    so a person who gives that back takes nothing away."""
    if why_nothing_lost:
        return
    read_all = request.settings.get("guard") == "digest"
    unsafe = list(unsafe_results(bb, request.uuid, read_all))
    if unsafe:
        scratch = str(bb.placement().get("pfs_scratch", ""))
        lines = [
            f"{len(unsafe)} of {len(bb.placement()['outputs'])} promised results are "
            f"not safe; {decision_message(found)}",
            *_first([f"  {each.lfn}: {each.why}" for each in unsafe]),
            f"look:    the files that remain are in {scratch}",
            f"resume:  pegasus-bb run {shlex.quote(program.submit_dir(bb))}",
        ]
        raise DataNotSafe("\n".join(lines))


def would_release(bb: BBDir, why_nothing_lost: str = "") -> str:
    """What ``release`` would do, in words; raises where it would. Changes nothing."""
    request, noted = bb.request(), _noted(bb)
    backend = open_backend(request.backend, request.settings)
    if on_the_pfs(bb, request):
        return _would_release_unused(bb, request, noted, backend)
    noted, nothing = _nothing_there(bb, request, noted, backend)
    if nothing:
        return nothing
    check_results(bb, backend, why_nothing_lost)
    status = checked(request, noted, _status(bb, request, noted, backend))
    if status.state is State.ABSENT:
        return absent_already(request, noted)
    why = why_nothing_lost or "every promised result is safe"
    return f"{status.state.value}; {why}"


def _would_release_unused(
    bb: BBDir, request: Request, noted: Optional[Reservation], backend: Backend
) -> str:
    status = _status(bb, request, noted, backend)
    if status.state is State.UNKNOWN:
        raise SchedulerUnreachable(f"{request.name} was kept: {status.message}")
    if status.state is State.ABSENT:
        return absent_already(request, noted)
    words = left_alone(request, noted, status)
    return words or f"{status.state.value}; the run is on the PFS, nothing is on it"


def give_up(bb: BBDir) -> str:
    """Note that the run's reservation is gone with its storage; words for the user.

    Nothing is removed. Raises ReservationFailed where the storage is not another than
    the one it was on: then it can be given back.
    """
    request, noted = bb.request(), _noted(bb)
    backend = open_backend(request.backend, request.settings)
    why = backend.why_other_storage(reservation_identity.last_place(bb))
    if not why:
        raise ReservationFailed(
            f"nothing says that the storage of reservation {request.name} is gone; it "
            f"was kept. To drop what is on it: pegasus-bb release {request.name} "
            "--discard"
        )
    lost = list(unsafe_results(bb, request.uuid, read_all=False))
    _note_end(bb, request, noted, "discarded")
    lines = [f"reservation {request.name} was given up: {why}"]
    if lost:
        lines.append(f"with it {len(lost)} promised results that are not safe:")
        lines += _first([f"  {unsafe.lfn}: {unsafe.why}" for unsafe in lost])
    return "\n".join(lines)


def _noted(bb: BBDir) -> Optional[Reservation]:
    """What setup noted. Raises ReservationFailed where it is of another run."""
    request, noted = bb.request(), bb.reservation()
    if noted is not None and noted.uuid != request.uuid:
        raise ReservationFailed(
            f"reservation.json is of run {noted.uuid}, not of this run {request.uuid}; "
            "nothing was given back"
        )
    return noted


def _nothing_there(
    bb: BBDir, request: Request, noted: Optional[Reservation], backend: Backend
) -> Tuple[Optional[Reservation], str]:
    """The note, found again where it was lost; and words where there was never any."""
    if noted is None:
        noted = found_again(bb, backend, request)
        if noted is not None or asked_at(bb, request):
            return noted, ""
        _check_planned(bb)
        return None, f"reservation {request.name} was never asked for"
    if not _never_made(bb, request, noted, backend):
        return noted, ""
    return noted, (
        f"reservation {request.name} was never made, so there is nothing to "
        f"give back: it was refused ({noted.failure})"
    )


def _check_planned(bb: BBDir) -> None:
    """Raises UsageError where planning was killed before it had written everything."""
    bb.placement()
    if not os.path.exists(bb.file("plan.json")):
        raise UsageError(
            f"{bb.file('plan.json')} is missing: planning did not come to its end, and "
            "nothing was asked for; plan again"
        )


def _note_end(
    bb: BBDir, request: Request, noted: Optional[Reservation], event: str
) -> None:
    noted = noted or Reservation(request.name, request.backend, request.uuid, 0.0)
    bb.note_reservation(replace(noted, released_at=time.time()))
    _list_end(bb, request, event)


def _list_end(bb: BBDir, request: Request, event: str) -> None:
    program.list_event(event, request, program.submit_dir(bb))


def _status(
    bb: BBDir, request: Request, noted: Optional[Reservation], backend: Backend
) -> Status:
    if noted is None:
        return reservation_identity.status_without_notes(bb, backend, request)
    return reservation_identity.status(bb, backend, request, noted)


def _never_made(
    bb: BBDir, request: Request, noted: Reservation, backend: Backend
) -> bool:
    """Whether every witness says so: the refusal was noted, what setup asked for was
    never up (no request of this run was), nothing was staged out, and the backend
    answers that it is absent."""
    used = os.path.lexists(
        bb.file("ready.json")
    ) or reservation_identity.has_progressed(bb, noted)
    if used or not noted.was_refused:
        return False  # no question to the backend is needed
    return backend.status(request).state is State.ABSENT


def check_results(bb: BBDir, backend: Backend, why_nothing_lost: str = "") -> None:
    """Raises DataNotSafe where giving back would lose a promised result."""
    request = bb.request()
    read_all = request.settings.get("guard") == "digest"
    buffer = seen_from_here(request, backend)
    if why_nothing_lost == UNUSED and not _was_used(bb, buffer):
        return
    found = list(unsafe_results(bb, request.uuid, read_all, buffer))
    if why_nothing_lost == NO_RESULTS and not _has_results(bb, request, found, buffer):
        return
    if found:
        raise DataNotSafe(_not_safe(bb, request, found, buffer))


def _was_used(bb: BBDir, buffer: str) -> bool:
    """Whether anything tells so: that it was up, that a result came from it, or what
    lies on it."""
    if os.path.lexists(bb.file("ready.json")) or _has_saved(bb):
        return True
    try:
        return bool(buffer) and set(os.listdir(buffer)) != {identity.FILE}
    except OSError:
        return True


def _has_results(
    bb: BBDir, request: Request, unsafe: List[Unsafe], buffer: str
) -> bool:
    """Whether one was staged out, or one that is not safe lies there."""
    return _has_saved(bb) or any(_left(unsafe, file_folders(bb, request, buffer)))


def _has_saved(bb: BBDir) -> bool:
    """Whether this run has staged anything out."""
    return os.path.lexists(bb.file("manifest.jsonl"))


def file_folders(bb: BBDir, request: Request, buffer: str) -> List[str]:
    """Where files of the run may lie as this machine sees it, the reservation first."""
    placement = bb.placement()
    below = str(placement.get("scratch", ""))[len(request.prefix) :].strip("/")
    on_buffer = os.path.join(buffer, below) if buffer else ""
    return [on_buffer, str(placement.get("pfs_scratch", ""))]


def seen_from_here(request: Request, backend: Backend) -> str:
    """The path of the reservation, where this machine has it."""
    try:
        return backend.path(request, os.environ)
    except ReservationFailed:
        return ""


def _not_safe(bb: BBDir, request: Request, found: List[Unsafe], buffer: str) -> str:
    promised = len(bb.placement().get("outputs", {}))
    lines = [
        f"kept reservation {request.name} ({format_size(request.capacity)}, "
        f"{request.backend}): {len(found)} of {promised} promised results are not safe"
    ]
    lines += _first([f"  {unsafe.lfn}: {unsafe.why}" for unsafe in found])
    lines += _to_be_copied_by_hand(bb, request, found, buffer)
    lines += [
        f"resume:  pegasus-bb run {shlex.quote(program.submit_dir(bb))}",
        f"discard: pegasus-bb release {request.name} --discard",
    ]
    return "\n".join(lines)


def _to_be_copied_by_hand(
    bb: BBDir, request: Request, found: List[Unsafe], buffer: str
) -> List[str]:
    """Where a person finds the results that are not safe, as far as we can see."""
    placement = bb.placement()
    scratch = str(placement.get("scratch", ""))
    if not scratch.startswith(request.prefix):
        return []
    below = scratch[len(request.prefix) :].strip("/")
    if not buffer:
        where = f"{below or '.'} on {request.name}, which cannot be seen from here"
        return [f"look:    the files that remain are in {where}"]
    left = list(_left(found, file_folders(bb, request, buffer)))
    if not left:
        return [f"look:    none of them is in {os.path.join(buffer, below)}"]
    lines = [f"still on {request.name}, to be copied by hand or by stage-out:"]
    return lines + _first([f"  {path}" for path in left])


def _first(lines: List[str]) -> List[str]:
    more = len(lines) - _SHOWN
    return lines[:_SHOWN] + ([f"  ... and {more} more"] if more > 0 else [])


def _left(found: List[Unsafe], folders: List[str]) -> Iterator[str]:
    for unsafe in found:
        paths = [os.path.join(folder, unsafe.lfn) for folder in folders if folder]
        there = [path for path in paths if os.path.exists(path)]
        yield from there[:1]  # a file of the PFS is seen through its link first


if __name__ == "__main__":
    sys.exit(main())
