"""Finds the state of each node of a run from its rescue files and its journal."""

from __future__ import annotations

from collections.abc import Iterable

from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.model.dag.roles import Role, of_role
from pegasus_bb.run.engine.jobstate_log import Event, LoggedEvents, failure
from pegasus_bb.run.engine.node_table import NodeEntry, NodeState, NodeTable
from pegasus_bb.run.engine.rescue import read_failed, read_rescue
from pegasus_bb.run.engine.submitdir import SubmitDir

FAILURES = ("PRE_SCRIPT_FAILURE", "JOB_FAILURE", "POST_SCRIPT_FAILURE")
# The last event of a running node -> its state.
_RUNNING = {
    "PRE_SCRIPT_STARTED": NodeState.RUNNING,
    "PRE_SCRIPT_TERMINATED": NodeState.RUNNING,
    "PRE_SCRIPT_SUCCESS": NodeState.READY,
    "SUBMIT": NodeState.RUNNING,
    "EXECUTE": NodeState.RUNNING,
    "GRID_SUBMIT": NodeState.RUNNING,
    "JOB_HELD": NodeState.HELD,
    "JOB_RELEASED": NodeState.RUNNING,
    "JOB_EVICTED": NodeState.RUNNING,
    "JOB_TERMINATED": NodeState.RUNNING,
    "POST_SCRIPT_STARTED": NodeState.RUNNING,
    "POST_SCRIPT_TERMINATED": NodeState.RUNNING,
}


def table_now(
    place: SubmitDir, dag: Dag, history: LoggedEvents, *, alive: bool
) -> NodeTable:
    """``alive``: an engine works on the run, so that a retry may follow a failure."""
    table = NodeTable(dag, done_before(place, dag, history))
    this_run = history.events[history.since :] if history.crashed else history.events
    _set_states(table, dag, this_run, alive=alive)
    return table


def failed_before(place: SubmitDir, dag: Dag, history: LoggedEvents) -> set[str]:
    """Nodes that failed in an earlier run, by its journal or its rescue file."""
    table = table_now(place, dag, history, alive=False)
    named = set(read_failed(place.last_rescue, dag))
    return (named | set(table.names(NodeState.FAILED))) - set(
        table.names(NodeState.DONE)
    )


def _set_states(
    table: NodeTable, dag: Dag, events: list[Event], *, alive: bool
) -> None:
    """Move nodes to failed, running or ready; ``table`` has only done and waiting."""
    last = {event.node: event for event in events}
    jobs = {(e.node, e.sequence): e for e in events if e.event == "JOB_FAILURE"}
    for name, item in table.items.items():
        if item.state is NodeState.DONE:
            continue
        event = last[name].event if name in last else ""
        if event in FAILURES and not _may_continue(dag, name, event, alive=alive):
            item.stage = event.partition("_")[0].lower()
            # A POST script that fails after its job only passes that failure on.
            cause = jobs.get((name, last[name].sequence), last[name])
            item.reason = failure(cause.event, cause.detail)
            _note_status(item, cause)
            table.failed(item)
        elif alive and _state_of_running(dag, name, event) is not None:
            table.move(item, _state_of_running(dag, name, event) or NodeState.READY)
    for item in table.free():
        table.move(item, NodeState.READY)


def _note_status(item: NodeEntry, cause: Event) -> None:
    """As the engine that ran it had it: from this its cause is found."""
    if not cause.detail.lstrip("-").isdigit():
        return
    if cause.event.startswith("PRE"):
        item.pre_status = int(cause.detail)
    elif cause.event.startswith("JOB"):
        item.status = int(cause.detail)


def _may_continue(dag: Dag, name: str, event: str, *, alive: bool) -> bool:
    """Whether a node may go on after a failure: by its POST script or a retry."""
    node = dag.nodes[name]
    return alive and (
        node.retry > 0 or (event == "JOB_FAILURE" and node.post is not None)
    )


def _state_of_running(dag: Dag, name: str, event: str) -> NodeState | None:
    if event in ("JOB_SUCCESS", "JOB_FAILURE") and dag.nodes[name].post is not None:
        return NodeState.RUNNING
    pre = dag.nodes[name].pre
    if event == "PRE_SCRIPT_STARTED" and pre is not None and pre.defer_status:
        return NodeState.DEFERRED  # its PRE script may be waiting to run again
    return NodeState.READY if event in FAILURES else _RUNNING.get(event)


def done_before(place: SubmitDir, dag: Dag, history: LoggedEvents) -> set[str]:
    """The nodes that must not run again.

    As in DAGMan, the newest rescue file names them. If the engine was killed, the
    journal adds those done since; without a rescue file it names all. DONE in the DAG
    always counts, for bb_delete only once the reservation was released.
    """
    done = _recorded_done(place, dag, history)
    return done - _unreleased_deletes(place, done)


def _recorded_done(place: SubmitDir, dag: Dag, history: LoggedEvents) -> set[str]:
    done = {node.name for node in dag.nodes.values() if node.done}
    rescue = place.last_rescue
    done |= read_rescue(rescue, dag)
    if history.finished == 0 or rescue is None:
        return done | succeeded(dag, history.events)
    if history.crashed:
        done |= succeeded(dag, history.events[history.since :])
    return done


def _unreleased_deletes(place: SubmitDir, done: set[str]) -> set[str]:
    """bb_delete, where it counts as done and its reservation still exists. A refused
    reservation never existed: the run is on the PFS."""
    deletes = set(of_role(done, Role.BB_DELETE))
    noted = place.bb_dir.reservation() if deletes else None
    if noted is None or noted.released_at is not None or noted.was_refused:
        return set()
    return deletes


def succeeded(dag: Dag, events: Iterable[Event]) -> set[str]:
    return {
        event.node
        for event in events
        if event.node in dag.nodes and _is_success(dag.nodes[event.node], event)
    }


def _is_success(node: Node, event: Event) -> bool:
    if event.event == "POST_SCRIPT_SUCCESS":
        return True
    if event.event == "JOB_SUCCESS":
        return node.post is None
    skips = node.pre_skip is not None and event.detail == str(node.pre_skip)
    return event.event == "PRE_SCRIPT_FAILURE" and skips
