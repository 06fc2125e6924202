"""Every reservation that this user asked for, with what scheduler and run say of it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from pegasus_bb.core import ledger
from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.model.reservation import State, Status
from pegasus_bb.run.engine.submitdir import find_submit_dir
from pegasus_bb.run.inventory import run_state as runs
from pegasus_bb.run.inventory.kept_spaces import list_kept_spaces
from pegasus_bb.run.inventory.located import (
    LocatedReservation,
    RunFinder,
    ask_schedulers,
)
from pegasus_bb.run.inventory.run_state import (
    NOT_OURS,
    ReservationRecord,
    RunState,
    ledger_record,
    run_state,
)
from pegasus_bb.runtime.backends.base import ReservationRow
from pegasus_bb.runtime.release_steps import release_command
from pegasus_bb.runtime.storage_decision import on_the_pfs

_STRANGER = (
    "made by hand, or on another ledger (another machine or $HOME); it is left alone"
)
_BACK = "noted as {} already, yet there is one of that name; it is left alone"


def list_reservations(*, everything: bool = False) -> list[ReservationRecord]:
    """In the order of asking, then what is not on the ledger. ``everything``: also what
    has ended. Each scheduler is asked once. Changes nothing."""
    known = ledger.reservations()
    finder = RunFinder()
    standing = [finder.locate(entry) for entry in known if not entry.end]
    answers = ask_schedulers(standing, (entry for entry in known if entry.end))
    rows = {row.name: (backend, row) for backend, row in answers.rows}
    found = {
        (one.entry.name, one.entry.uuid): _record(one, status)
        for one, status in zip(standing, answers.statuses, strict=True)
    }
    names = {name for name, _ in found}
    for entry in known:
        _, row = rows.get(entry.name, ("", None))
        if entry.name in names:  # the row is of a later run
            row = None
        if entry.end and (everything or row):
            state = row.status.state.value if row else ""
            message = _BACK.format(entry.end) if row else ""
            found[entry.name, entry.uuid] = ledger_record(entry, state, message)
    ordered = (found.get((entry.name, entry.uuid)) for entry in known)
    on_ledger = {entry.name for entry in known}
    strangers = [_stranger(*row) for name, row in rows.items() if name not in on_ledger]
    spaces = list_kept_spaces(answers.unstaged)
    return [*(record for record in ordered if record), *strangers, *spaces]


def _run_state(one: LocatedReservation) -> RunState:
    if one.bb is not None:
        return run_state(Path(one.submit_dir))
    reason = f"{one.submit_dir or 'its submit directory'} cannot be seen from here"
    if one.is_of_another_host:
        reason += f"; it was planned on host {one.entry.host}"
    elif one.submit_dir:
        reason += "; if it was moved, move it back, and pegasus-bb run continues it"
    return RunState(runs.AWAY, reason)


def _record(one: LocatedReservation, status: Status) -> ReservationRecord:
    entry = one.entry
    run = _run_state(one)
    return replace(
        ledger_record(entry, status.state.value, status.message),
        size=status.size or entry.size,
        site=one.request.site if one.request else "",
        tier=one.request.tier if one.request else "",
        label=entry.label or (one.bb.label() if one.bb else ""),
        submit_dir=one.submit_dir,
        run=run.state,
        run_words=run.reason,
        next=_next(one, run, status),
        fallback=_fallback(one),
    )


def _fallback(one: LocatedReservation) -> dict[str, str] | None:
    if one.bb is None or one.request is None:
        return None
    try:
        found = on_the_pfs(one.bb, one.request)
    except UsageError as error:
        return {"to": "not known", "because": str(error)}
    return {"to": found.to, "because": found.because} if found else None


def _next(one: LocatedReservation, run: RunState, status: Status) -> tuple[str, ...]:
    """The commands that go on with it, or give it back."""
    folder = shlex.quote(one.submit_dir)
    if run.state in (runs.RUNNING, runs.PERHAPS):
        return (f"pegasus-bb status {folder}",)
    ended = run.state in (runs.AWAY, runs.DONE)
    # Why it has failed decides what would do: status says both.
    command = "status" if run.state == runs.FAILED else "run"
    steps = () if ended else (f"pegasus-bb {command} {folder}",)
    if status.state is State.UNKNOWN:  # refused now; its message has the way on
        return steps
    if run.state == runs.AWAY and (one.is_of_another_host or one.request is None):
        return ()
    loses_nothing = run.state != runs.AWAY and _loses_nothing(one)
    return (*steps, release_command(one.entry.name, loses_nothing=loses_nothing))


def _loses_nothing(one: LocatedReservation) -> bool:
    from pegasus_bb.run.engine.nothing_lost import loses_nothing  # slow to load

    if one.bb is None or one.request is None:
        return False
    try:
        place = find_submit_dir(Path(one.submit_dir))
        return one.is_of_one_job or loses_nothing(place)
    except (PegasusBBError, OSError):
        return False


def _stranger(backend: str, row: ReservationRow) -> ReservationRecord:
    status = row.status
    return ReservationRecord(
        row.name,
        backend,
        status.size,
        status.state.value,
        _STRANGER,
        on_ledger=False,
        asked_at=status.created,
        uuid=status.uuid,
        run=NOT_OURS,
    )
