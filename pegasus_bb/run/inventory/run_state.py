"""How far the run of a submit directory is, and one line of `pegasus-bb ls`."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.core.errors import INTERRUPTED, PegasusBBError, RunFailed
from pegasus_bb.core.files import lock_holder
from pegasus_bb.core.ledger import LedgerReservation
from pegasus_bb.run.engine.causes import last_lines
from pegasus_bb.run.engine.dagman.find import find
from pegasus_bb.run.engine.dagman.job_waits import JobWait, waits_of
from pegasus_bb.run.engine.failed_run import FailedRun
from pegasus_bb.run.engine.failure_messages import failure_messages
from pegasus_bb.run.engine.jobstate_log import read_history
from pegasus_bb.run.engine.node_table import NodeState
from pegasus_bb.run.engine.nodestates import table_now
from pegasus_bb.run.engine.preparation import moved_from
from pegasus_bb.run.engine.processes import left_over
from pegasus_bb.run.engine.submitdir import SubmitDir, find_submit_dir

RUNNING = "running"
PERHAPS = "cannot tell"  # it may run: on another host, or the schedd gives no answer
DONE = "ended ok"
FAILED = "failed"
STOPPED = "stopped"  # by Ctrl-C or SIGTERM
DEAD = "dead: no engine works on it"
AWAY = "submit directory not here"
_ENDS = {0: DONE, INTERRUPTED: STOPPED}  # any other exit status: FAILED
_HOST = re.compile(r"pid \d+ on host (\S+)")  # run/engine/lock.py writes it

NOT_OURS = "not on this ledger"


class RunState(NamedTuple):
    state: str
    reason: str = ""


def run_state(submit_dir: Path) -> RunState:
    """Raises nothing: a run that cannot be read may be at work."""
    try:
        place = find_submit_dir(submit_dir)
        holder = lock_holder(str(place.lock))
        if holder:
            return RunState(RUNNING, holder)
        found = find(place)
        if found is not None and found.description:
            return RunState(PERHAPS if found.unknown else RUNNING, found.description)
        history = read_history(place.journal)
        if history.finished is None or history.crashed:
            return _without_an_end(place)
        return RunState(_ENDS.get(history.finished, FAILED))
    except (PegasusBBError, OSError) as error:
        return RunState(PERHAPS, str(error))


def _without_an_end(place: SubmitDir) -> RunState:
    """Locks may hold on one host alone, and a killed engine leaves tasks running."""
    host = _begun_on(place)
    if host not in ("", socket.gethostname()):
        return RunState(PERHAPS, f"begun on host {host}, which has not noted its end")
    try:
        left = left_over(place.processes)
    except RunFailed as error:
        return RunState(PERHAPS, str(error))
    if left:
        pids = ", ".join(str(pid) for pid in left)
        return RunState(RUNNING, f"its engine was killed and left processes: {pids}")
    return RunState(DEAD)


def _begun_on(place: SubmitDir) -> str:
    """The host of the last engine; empty where none has said."""
    try:
        text = place.lock.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    found = _HOST.match(text)
    return found[1] if found else ""


@dataclass(frozen=True)
class ReservationRecord:
    """Times are seconds since the epoch, 0 where they are not known."""

    name: str
    backend: str
    size: int  # bytes
    state: str  # model.reservation.State; empty where it has ended
    message: str  # the scheduler's own words, or why nothing is known
    on_ledger: bool = True
    ended: str = ""  # one of ledger.ENDS; empty: no line of the ledger tells
    ended_at: float = 0.0
    asked_at: float = 0.0  # of a row that is not on the ledger: when it was made
    site: str = ""
    tier: str = ""
    uuid: str = ""  # of the run
    label: str = ""
    submit_dir: str = ""
    host: str = ""
    run: str = ""  # one of inventory.run_state; empty where that was not asked
    run_words: str = ""
    next: tuple[str, ...] = ()  # commands for the user
    fallback: dict[str, str] | None = None  # to, because: the run is not on it
    job: str = ""  # of Slurm: its own space, kept because its stage-out failed
    node: str = ""  # of the run that job was of
    scratch: str = ""  # of that run


def ledger_record(
    entry: LedgerReservation, state: str, message: str
) -> ReservationRecord:
    """Return what the ledger says of ``entry``."""
    request = entry.request or {}
    return ReservationRecord(
        entry.name,
        entry.backend,
        entry.size,
        state,
        message,
        ended=entry.end,
        ended_at=entry.ended_at,
        asked_at=entry.time,
        site=str(request.get("site", "")),
        tier=str(request.get("tier", "")),
        uuid=entry.uuid,
        label=entry.label,
        submit_dir=entry.submit_dir,
        host=entry.host,
    )


@dataclass
class RunStatus:
    submit_dir: str
    dag: str
    engine: str  # that runs it now; empty without one
    nodes: dict[str, int] = field(default_factory=dict)  # by state, and total
    running: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    waits: list[JobWait] = field(default_factory=list)  # jobs that have not begun
    failed: list[str] = field(default_factory=list)
    last_failures: list[str] = field(default_factory=list)  # lines for a person
    cause: list[str] = field(default_factory=list)  # of a failed run, and what would do
    moved_from: str = ""  # where it was planned, if it was moved since
    finished: int | None = None  # exit status of the last run that came to an end
    last_event: int = 0  # seconds since the epoch


def run_status(place: SubmitDir) -> RunStatus:
    """Read the DAG, the rescue files and the journal. Raises UsageError."""
    dag = place.read_dag()
    history = read_history(place.journal)
    dagman = find(place)
    engine = lock_holder(str(place.lock)) or (dagman.description if dagman else "")
    table = table_now(place, dag, history, alive=bool(engine))
    status = RunStatus(str(place.path), place.dag.name, engine)
    status.nodes = {state.value: count for state, count in table.counts.items()}
    status.nodes["total"] = len(dag.nodes)
    status.running = table.names(NodeState.RUNNING)
    status.held = table.names(NodeState.HELD)
    if dagman is not None and dagman.alive and status.running:
        status.waits = waits_of(dagman.life.cluster)
    status.failed = table.names(NodeState.FAILED)
    failed = [table.items[name] for name in status.failed]
    status.last_failures = failure_messages(failed, place)
    status.moved_from = moved_from(place)
    if not engine and not status.moved_from:
        run = FailedRun(place, table)
        if failed or (history.events and run.has_vanished):
            status.cause = last_lines(run)
    status.finished = None if history.crashed else history.finished
    status.last_event = history.events[-1].time if history.events else 0
    return status
