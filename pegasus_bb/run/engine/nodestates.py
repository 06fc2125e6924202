"""Finds the state of each node of a run from its rescue files and its journal."""

from __future__ import annotations

from collections.abc import Iterable

from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.model.dag.roles import Role, of_role
from pegasus_bb.run.engine.jobstate_log import Event, History, failure
from pegasus_bb.run.engine.rescue import read_failed, read_rescue
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.run.engine.table import State, Table
from pegasus_bb.runtime.bbdir import BBDir

FAILURES = ("PRE_SCRIPT_FAILURE", "JOB_FAILURE", "POST_SCRIPT_FAILURE")
# The last event of a running node -> its state.
_RUNNING = {
    "PRE_SCRIPT_STARTED": State.RUNNING,
    "PRE_SCRIPT_TERMINATED": State.RUNNING,
    "PRE_SCRIPT_SUCCESS": State.READY,
    "SUBMIT": State.RUNNING,
    "EXECUTE": State.RUNNING,
    "GRID_SUBMIT": State.RUNNING,
    "JOB_HELD": State.HELD,
    "JOB_RELEASED": State.RUNNING,
    "JOB_EVICTED": State.RUNNING,
    "JOB_TERMINATED": State.RUNNING,
    "POST_SCRIPT_STARTED": State.RUNNING,
    "POST_SCRIPT_TERMINATED": State.RUNNING,
}


def table_now(place: SubmitDir, dag: Dag, history: History, alive: bool) -> Table:
    """``alive``: an engine works on the run, so that a retry may follow a failure."""
    table = Table(dag, done_before(place, dag, history))
    this_run = history.events[history.since :] if history.crashed else history.events
    _set_states(table, dag, this_run, alive)
    return table


def failed_before(place: SubmitDir, dag: Dag, history: History) -> set[str]:
    """Nodes that failed in an earlier run, by its journal or its rescue file."""
    table = table_now(place, dag, history, alive=False)
    named = set(read_failed(place.last_rescue, dag))
    return (named | set(table.names(State.FAILED))) - set(table.names(State.DONE))


def _set_states(table: Table, dag: Dag, events: list[Event], alive: bool) -> None:
    """Move nodes to failed, running or ready; ``table`` has only done and waiting."""
    last = {event.node: event for event in events}
    jobs = {(e.node, e.sequence): e for e in events if e.event == "JOB_FAILURE"}
    for name, item in table.items.items():
        if item.state is State.DONE:
            continue
        event = last[name].event if name in last else ""
        if event in FAILURES and not _may_continue(dag, name, event, alive):
            item.stage = event.partition("_")[0].lower()
            # A POST script that fails after its job only passes that failure on.
            cause = jobs.get((name, last[name].sequence), last[name])
            item.reason = failure(cause.event, cause.detail)
            table.failed(item)
        elif alive and _state_of_running(dag, name, event) is not None:
            table.move(item, _state_of_running(dag, name, event) or State.READY)
    for item in table.free():
        table.move(item, State.READY)


def _may_continue(dag: Dag, name: str, event: str, alive: bool) -> bool:
    """Whether a node may go on after a failure: by its POST script or a retry."""
    node = dag.nodes[name]
    return alive and (
        node.retry > 0 or (event == "JOB_FAILURE" and node.post is not None)
    )


def _state_of_running(dag: Dag, name: str, event: str) -> State | None:
    if event in ("JOB_SUCCESS", "JOB_FAILURE") and dag.nodes[name].post is not None:
        return State.RUNNING
    pre = dag.nodes[name].pre
    if event == "PRE_SCRIPT_STARTED" and pre is not None and pre.defer_status:
        return State.DEFERRED  # its PRE script may be waiting to run again
    return State.READY if event in FAILURES else _RUNNING.get(event)


def done_before(place: SubmitDir, dag: Dag, history: History) -> set[str]:
    """The nodes that must not run again.

    As in DAGMan, the newest rescue file names them. If the engine was killed, the
    journal adds those done since; without a rescue file it names all. DONE in the DAG
    always counts, for bb_delete only once the reservation was released.
    """
    done = _recorded_done(place, dag, history)
    return done - _unreleased_deletes(place, done)


def _recorded_done(place: SubmitDir, dag: Dag, history: History) -> set[str]:
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
    noted = BBDir(str(place.bb)).reservation() if deletes else None
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
