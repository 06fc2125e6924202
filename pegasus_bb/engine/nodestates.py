"""In which state each node of a run is, by its rescue files and its journal."""

from __future__ import annotations

from collections.abc import Iterable

from pegasus_bb.dag.nodes import Dag, Node
from pegasus_bb.dag.roles import Role, of_role
from pegasus_bb.engine.journal import Event, History, failure
from pegasus_bb.engine.rescue import read_failed, read_rescue
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.engine.table import State, Table
from pegasus_bb.runtime.bbdir import BBDir

FAILURES = ("PRE_SCRIPT_FAILURE", "JOB_FAILURE", "POST_SCRIPT_FAILURE")
# The last event of a node that is under way -> what it does.
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
    _place_nodes(table, dag, this_run, alive)
    return table


def failed_before(place: SubmitDir, dag: Dag, history: History) -> set[str]:
    """Nodes that an earlier run has left failed, by its journal or its rescue file."""
    table = table_now(place, dag, history, alive=False)
    named = set(read_failed(place.last_rescue, dag))
    return (named | set(table.names(State.FAILED))) - set(table.names(State.DONE))


def _place_nodes(table: Table, dag: Dag, events: list[Event], alive: bool) -> None:
    """From done and waiting, which the table knows, to ready, running and failed."""
    last = {event.node: event for event in events}
    jobs = {(e.node, e.sequence): e for e in events if e.event == "JOB_FAILURE"}
    for name, item in table.items.items():
        if item.state is State.DONE:
            continue
        event = last[name].event if name in last else ""
        if event in FAILURES and not _goes_on(dag, name, event, alive):
            item.stage = event.partition("_")[0].lower()
            # A POST script that fails after its job only passes that failure on.
            cause = jobs.get((name, last[name].sequence), last[name])
            item.reason = failure(cause.event, cause.detail)
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
    return State.READY if event in FAILURES else _RUNNING.get(event)


def done_before(place: SubmitDir, dag: Dag, history: History) -> set[str]:
    """The nodes that must not run again.

    As DAGMan does it: the newest rescue file says, unless the engine was killed; then
    the journal adds what was done since. Without a rescue file the journal says all.
    A DONE in the DAG always counts; bb_delete's where the reservation was given back.
    """
    done = _said_done(place, dag, history)
    return done - _not_given_back(place, done)


def _said_done(place: SubmitDir, dag: Dag, history: History) -> set[str]:
    done = {node.name for node in dag.nodes.values() if node.done}
    rescue = place.last_rescue
    done |= read_rescue(rescue, dag)
    if history.finished == 0 or rescue is None:
        return done | succeeded(dag, history.events)
    if history.crashed:
        done |= succeeded(dag, history.events[history.since :])
    return done


def _not_given_back(place: SubmitDir, done: set[str]) -> set[str]:
    """bb_delete, where a rescue file calls it done and its reservation stands. One that
    was refused never stood: the run is on the PFS."""
    deletes = set(of_role(done, Role.BB_DELETE))
    noted = BBDir(str(place.bb)).reservation() if deletes else None
    if noted is None or noted.released_at is not None or noted.was_refused:
        return set()
    return deletes


def succeeded(dag: Dag, events: Iterable[Event]) -> set[str]:
    return {
        event.node
        for event in events
        if event.node in dag.nodes and _ends_well(dag.nodes[event.node], event)
    }


def _ends_well(node: Node, event: Event) -> bool:
    if event.event == "POST_SCRIPT_SUCCESS":
        return True
    if event.event == "JOB_SUCCESS":
        return node.post is None
    skips = node.pre_skip is not None and event.detail == str(node.pre_skip)
    return event.event == "PRE_SCRIPT_FAILURE" and skips
