"""How far a run is, from what it has written. Only HTCondor's queue is asked, and only
whether a DAGMan that has not told of its end is still there."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pegasus_bb.dag.reader import read_dag
from pegasus_bb.engine.dagman.find import find
from pegasus_bb.engine.evidence import evidence
from pegasus_bb.engine.failure_messages import evidence_lines
from pegasus_bb.engine.journal import Event, failure, read_history
from pegasus_bb.engine.nodestates import FAILURES, stage_of, table_now
from pegasus_bb.engine.submitdir import SubmitDir, find_submit_dir
from pegasus_bb.engine.table import Item, State, Table
from pegasus_bb.files import lock_holder

_FAILURES = 5
_DU_SECONDS = 5.0


@dataclass
class RunStatus:
    """What ``pegasus-bb status`` shows of the nodes."""

    submit_dir: str
    dag: str
    engine: str  # that runs it now; empty without one
    nodes: dict[str, int] = field(default_factory=dict)  # by state, and total
    running: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    last_failures: list[dict[str, Any]] = field(default_factory=list)
    finished: int | None = None  # exit status of the last run that came to an end
    last_event: int = 0  # seconds since the epoch


def run_status(submit_dir: Path) -> RunStatus:
    """Read the DAG, the rescue files and the journal. Raises UsageError."""
    place = find_submit_dir(submit_dir)
    dag = read_dag(place.dag)
    history = read_history(place.journal)
    engine = lock_holder(str(place.lock)) or _dagman(place)
    table = table_now(place, dag, history, bool(engine))
    status = RunStatus(str(place.path), place.dag.name, engine)
    status.nodes = {state.value: count for state, count in table.counts.items()}
    status.nodes["total"] = len(dag.nodes)
    status.running = table.names(State.RUNNING)
    status.held = table.names(State.HELD)
    status.failed = table.names(State.FAILED)
    status.last_failures = list(_last_failures(history.events, table, place))
    status.finished = None if history.crashed else history.finished
    status.last_event = history.events[-1].time if history.events else 0
    return status


def _dagman(place: SubmitDir) -> str:
    found = find(place)
    return found.words if found is not None else ""


def _last_failures(
    events: list[Event], table: Table, place: SubmitDir
) -> Iterator[dict[str, Any]]:
    """One entry per attempt that failed, the last few."""
    failures = _attempts(events)
    last = {event.node: event for event in failures}
    for event in failures[-_FAILURES:]:
        item = table.items.get(event.node)
        state = item.state if item else None
        files, lines = _to_read(item, event, place)
        earlier = event is not last[event.node] or state is not State.FAILED
        yield {
            "node": event.node,
            "event": event.event,
            "status": event.detail,
            "why": failure(event.event, event.detail),
            "files": files,
            "lines": [] if earlier else lines,
            "time": event.time,
            "done_since": state is State.DONE,
            "earlier": earlier,
        }


def _to_read(
    item: Item | None, event: Event, place: SubmitDir
) -> tuple[list[str], list[str]]:
    """Files of the node's newest attempt, and what they say."""
    if item is None:
        return [], []
    item.stage = item.stage or stage_of(event.event)
    files = [str(one.file) for one in evidence(item, place)]
    return files, evidence_lines(item, place)


def _attempts(events: list[Event]) -> list[Event]:
    """The failures. A POST script that passes on what its job said adds nothing."""
    told = {(e.node, e.sequence) for e in events if e.event == "JOB_FAILURE"}
    return [
        event
        for event in events
        if event.event in FAILURES
        and not (
            event.event == "POST_SCRIPT_FAILURE"
            and (event.node, event.sequence) in told
        )
    ]


def bytes_below(path: Path, seconds: float = _DU_SECONDS) -> tuple[int, bool]:
    """Bytes that files below ``path`` hold, and whether all were counted in time."""
    deadline = time.monotonic() + seconds
    total = 0
    folders = [str(path)]
    while folders:
        if time.monotonic() > deadline:
            return total, False
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total, True


def submit_place(submit_dir: Path) -> SubmitDir:
    """The parts of a submit directory, for callers that look further."""
    return find_submit_dir(submit_dir)
