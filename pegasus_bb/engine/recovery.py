"""What an earlier engine has done already: rescue file, and journal after a crash."""

from __future__ import annotations

from collections.abc import Iterable

from pegasus_bb.dag.nodes import Dag, Node
from pegasus_bb.dag.roles import Role, of_role
from pegasus_bb.engine.journal import Event, History
from pegasus_bb.engine.rescue import read_rescue
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.runtime.bbdir import BBDir


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
    rescues = place.rescues()
    if rescues:
        done |= read_rescue(rescues[-1], dag)
    if history.finished == 0 or not rescues:
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
    """The nodes that these events bring to a good end."""
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
