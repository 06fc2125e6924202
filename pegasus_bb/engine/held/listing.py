"""Every reservation that this user asked for, with what scheduler and run say of it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from pegasus_bb import ledger
from pegasus_bb.engine.dagman.queue import AllHeld
from pegasus_bb.engine.held import doing as runs
from pegasus_bb.engine.held.asked import Case, Finder
from pegasus_bb.engine.held.doing import Doing, doing
from pegasus_bb.engine.held.holding import NOT_OURS, Holding
from pegasus_bb.engine.held.look import look
from pegasus_bb.engine.held.nothing_lost import check_nothing_lost
from pegasus_bb.engine.held.spaces import holdings_of
from pegasus_bb.engine.submitdir import find_submit_dir
from pegasus_bb.errors import PegasusBBError, UsageError
from pegasus_bb.ledger import Asked
from pegasus_bb.model.reservation import State, Status
from pegasus_bb.reservation.base import Row
from pegasus_bb.runtime.storage_decision import on_the_pfs

_STRANGER = "made by hand, or on the ledger of another machine; it is left alone"
_BACK = "noted as {} already, yet there is one of that name; it is left alone"


def holdings(everything: bool = False) -> list[Holding]:
    """In the order of asking, then what is not on the ledger. ``everything``: also what
    has ended. Each scheduler is asked once. Changes nothing."""
    known = ledger.reservations()
    cases = open_cases(known)
    seen = look(cases, (asked for asked in known if asked.end))
    held = AllHeld()
    rows = {row.name: (backend, row) for backend, row in seen.rows}
    found = {
        (case.asked.name, case.asked.uuid): _holding(case, status, held)
        for case, status in zip(cases, seen.statuses, strict=True)
    }
    open_names = {name for name, _ in found}
    for asked in known:
        row = rows.get(asked.name) if asked.name not in open_names else None
        if asked.end and (everything or row):
            found[asked.name, asked.uuid] = _ended(asked, row[1] if row else None)
    names = {asked.name for asked in known}
    ordered = (found.get((asked.name, asked.uuid)) for asked in known)
    strangers = [_stranger(*row) for name, row in rows.items() if name not in names]
    spaces = holdings_of(seen.unstaged, held)
    return [*(holding for holding in ordered if holding), *strangers, *spaces]


def open_cases(known: list[Asked]) -> list[Case]:
    """Those of whose end nobody has noted anything."""
    finder = Finder()
    return [finder.case(asked) for asked in known if not asked.end]


def doing_of(case: Case, held: Callable[[int], str | None]) -> Doing:
    """What the run is doing, as far as this host can tell."""
    if case.bb is not None:
        return doing(Path(case.submit_dir), held)
    where = f"{case.submit_dir or 'its submit directory'} is not to be seen from here"
    if case.is_of_another_host:
        where += f"; it was planned on host {case.asked.host}"
    return Doing(runs.AWAY, where)


def _holding(case: Case, status: Status, held: Callable[[int], str | None]) -> Holding:
    asked, run = case.asked, doing_of(case, held)
    return Holding(
        name=asked.name,
        backend=asked.backend,
        size=status.size or asked.size,
        state=status.state.value,
        message=status.message,
        on_ledger=True,
        ended="",
        ended_at=0.0,
        asked_at=asked.time,
        site=case.request.site if case.request else "",
        tier=case.request.tier if case.request else "",
        uuid=asked.uuid,
        label=asked.label or (case.bb.label() if case.bb else ""),
        submit_dir=case.submit_dir,
        host=asked.host,
        run=run.state,
        run_words=run.words,
        next=_next(case, run),
        fallback=_fallback(case),
    )


def _fallback(case: Case) -> dict[str, str] | None:
    """Where the run went in place of its reservation, and why."""
    if case.bb is None or case.request is None:
        return None
    try:
        found = on_the_pfs(case.bb, case.request)
    except UsageError as error:
        return {"to": "not known", "because": str(error)}
    return {"to": found.to, "because": found.because} if found else None


def _next(case: Case, run: Doing) -> tuple[str, ...]:
    """The commands that a person would say."""
    name = shlex.quote(case.asked.name)
    folder = shlex.quote(case.submit_dir)
    if run.state in (runs.RUNNING, runs.PERHAPS):
        return (f"pegasus-bb status {folder}",)
    if run.state == runs.AWAY:
        elsewhere = case.is_of_another_host or case.request is None
        return () if elsewhere else (f"pegasus-bb release {name} --discard",)
    release = f"pegasus-bb release {name}"
    if not _loses_nothing(case):
        release += " --discard"
    if run.state == runs.DONE:
        return (release,)
    return (f"pegasus-bb run {folder}", release)


def _loses_nothing(case: Case) -> bool:
    """Whether `pegasus-bb release` gives it back without --discard."""
    if case.bb is None or case.request is None:
        return False
    try:
        if case.is_of_a_job or on_the_pfs(case.bb, case.request):
            return True
        noted = case.bb.reservation()
        if noted is not None and not noted.was_refused:
            check_nothing_lost(find_submit_dir(Path(case.submit_dir)))
        return True
    except (PegasusBBError, OSError):
        return False


def _ended(asked: Asked, row: Row | None) -> Holding:
    request = asked.request or {}
    return Holding(
        name=asked.name,
        backend=asked.backend,
        size=asked.size,
        state=row.status.state.value if row else "",
        message=_BACK.format(asked.end) if row else "",
        on_ledger=True,
        ended=asked.end,
        ended_at=asked.ended_at,
        asked_at=asked.time,
        site=str(request.get("site", "")),
        tier=str(request.get("tier", "")),
        uuid=asked.uuid,
        label=asked.label,
        submit_dir=asked.submit_dir,
        host=asked.host,
        run="",
        run_words="",
        next=(),
    )


def _stranger(backend: str, row: Row) -> Holding:
    return Holding(
        name=row.name,
        backend=backend,
        size=row.status.size,
        state=row.status.state.value,
        message=_STRANGER,
        on_ledger=False,
        ended="",
        ended_at=0.0,
        asked_at=row.status.created,
        site="",
        tier="",
        uuid=row.status.uuid,
        label="",
        submit_dir="",
        host="",
        run=NOT_OURS,
        run_words="",
        next=(),
    )


def is_unknown(holding: Holding) -> bool:
    """Whether its scheduler gave no answer."""
    return holding.state == State.UNKNOWN.value
