"""How far a run is, from what it has written. Only HTCondor's queue is asked, and only
whether a DAGMan that has not told of its end is still there."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pegasus_bb.engine import words
from pegasus_bb.engine.dagman.find import find
from pegasus_bb.engine.journal import Event, read_history
from pegasus_bb.engine.recovery import done_before
from pegasus_bb.engine.submitdir import SubmitDir, find_submit_dir
from pegasus_bb.engine.table import State, Table
from pegasus_bb.files import lock_holder
from pegasus_bb.planner.dag import Dag
from pegasus_bb.planner.dagreader import read_dag

_FAILURES = 5
_DU_SECONDS = 5.0

# The last event of a node that is under way -> what it does.
_RUNNING = {
    "PRE_SCRIPT_STARTED": State.RUNNING,
    "PRE_SCRIPT_TERMINATED": State.RUNNING,
    "PRE_SCRIPT_SUCCESS": State.READY,
    "SUBMIT": State.RUNNING,
    "EXECUTE": State.RUNNING,
    "GRID_SUBMIT": State.RUNNING,
    "JOB_HELD": State.RUNNING,
    "JOB_RELEASED": State.RUNNING,
    "JOB_EVICTED": State.RUNNING,
    "JOB_TERMINATED": State.RUNNING,
    "POST_SCRIPT_STARTED": State.RUNNING,
    "POST_SCRIPT_TERMINATED": State.RUNNING,
}
_FAILED = ("PRE_SCRIPT_FAILURE", "JOB_FAILURE", "POST_SCRIPT_FAILURE")


@dataclass
class RunStatus:
    """What ``pegasus-bb status`` shows of the nodes."""

    submit_dir: str
    dag: str
    engine: str  # who runs it now; empty: nobody
    nodes: dict[str, int] = field(default_factory=dict)  # by state, and total
    running: list[str] = field(default_factory=list)
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
    table = Table(dag, done_before(place, dag, history))
    this_run = history.events[history.since :] if history.crashed else history.events
    _place_nodes(table, dag, this_run, bool(engine))
    status = RunStatus(str(place.path), place.dag.name, engine)
    status.nodes = {state.value: count for state, count in table.counts.items()}
    status.nodes["total"] = len(dag.nodes)
    status.running = table.names(State.RUNNING)
    status.failed = table.names(State.FAILED)
    status.last_failures = _last_failures(history.events, table, place.path)
    status.finished = None if history.crashed else history.finished
    status.last_event = history.events[-1].time if history.events else 0
    return status


def _dagman(place: SubmitDir) -> str:
    found = find(place)
    return found.words if found is not None else ""


def _place_nodes(table: Table, dag: Dag, events: list[Event], alive: bool) -> None:
    """From done and waiting, which the table knows, to ready, running and failed."""
    last = {event.node: event for event in events}
    for name, item in table.items.items():
        if item.state is State.DONE:
            continue
        event = last[name].event if name in last else ""
        if event in _FAILED and not _goes_on(dag, name, event, alive):
            table.failed(item)
        elif alive and _under_way(dag, name, event) is not None:
            table.move(item, _under_way(dag, name, event) or State.READY)
    for item in table.free():
        table.move(item, State.READY)


def _goes_on(dag: Dag, name: str, event: str, alive: bool) -> bool:
    """A failure that is not the end: a POST script decides, or a retry comes."""
    node = dag.nodes[name]
    return alive and (
        node.retry > 0 or (event == "JOB_FAILURE" and node.post is not None)
    )


def _under_way(dag: Dag, name: str, event: str) -> State | None:
    if event in ("JOB_SUCCESS", "JOB_FAILURE") and dag.nodes[name].post is not None:
        return State.RUNNING
    pre = dag.nodes[name].pre
    if event == "PRE_SCRIPT_STARTED" and pre is not None and pre.defer_status:
        return State.DEFERRED  # it asks now and then
    return State.READY if event in _FAILED else _RUNNING.get(event)


def _last_failures(
    events: list[Event], table: Table, submit_dir: Path
) -> list[dict[str, Any]]:
    """One entry per attempt that failed, the last few."""
    failures = _attempts(events)
    last = {event.node: event for event in failures}
    return [
        {
            "node": event.node,
            "event": event.event,
            "status": event.detail,
            "why": words.failure(event.event, event.detail),
            "files": _files(table, event.node, submit_dir),
            "time": event.time,
            "done_since": _is_in(table, event.node, State.DONE),
            "earlier": event is not last[event.node]
            or not _is_in(table, event.node, State.FAILED),
        }
        for event in failures[-_FAILURES:]
    ]


def _files(table: Table, node: str, submit_dir: Path) -> list[str]:
    """Of the node's newest attempt."""
    if node not in table.items:
        return []
    found = words.node_files(table.items[node], submit_dir)
    return [words.short(file, submit_dir) for file in found]


def _attempts(events: list[Event]) -> list[Event]:
    """The failures. A POST script that passes on what its job said adds nothing."""
    told = {(e.node, e.sequence) for e in events if e.event == "JOB_FAILURE"}
    return [
        event
        for event in events
        if event.event in _FAILED
        and not (
            event.event == "POST_SCRIPT_FAILURE"
            and (event.node, event.sequence) in told
        )
    ]


def _is_in(table: Table, node: str, state: State) -> bool:
    return node in table.items and table.items[node].state is state


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
