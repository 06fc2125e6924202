"""When the nodes of a run were ready, and when their jobs ran.

jobstate.log has most of it; the DAG file and the records complete it. A node is ready
when its parents have ended. The time from then to its submission, without its PRE
script, is what DAGMan's limits and polling cost, or the slots of the local engine.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import format_count
from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.model.run import NodeTimes, Problem, Task
from pegasus_bb.report.jobstate import JobStates, read_jobstate

_CLOCKS = 5.0  # seconds that those of a site may differ
_ROUNDED = 1.0  # seconds that a time of the log may lack


def read_states(folder: Path) -> tuple[JobStates, tuple[Problem, ...]]:
    """Read jobstate.log and the DAG file in submit directory ``folder``."""
    path = folder / "jobstate.log"
    try:
        states = read_jobstate(path)
    except FileNotFoundError:
        return JobStates(), ()
    except OSError as error:
        return JobStates(), (Problem(str(path), error.strerror or str(error)),)
    begins = [since for since, _ in states.stretches]
    nodes = with_ready(states.nodes, _dag_of(folder), begins)
    states = states._replace(nodes=nodes)
    why = f"skipped, not of its format: {format_count(states.unread, 'line')}"
    return states, (Problem(str(path), why),) if states.unread else ()


def to_the_last_record(
    states: JobStates, tasks: Sequence[Task], folder: str
) -> tuple[JobStates, tuple[Problem, ...]]:
    """Extend ``states`` to the end of the last record in submit directory ``folder``.

    pegasus-monitord may end before DAGMan: it takes a DAGMan that was held for one that
    has ended, and its log lacks what ran after condor_release. Nodes of sub-workflows
    are never in it; they may run by another clock.
    """
    if not states.stretches:
        return states, ()
    names = {node.node for node in states.nodes}
    known = [task for task in tasks if task.node in names]
    unknown = [task for task in tasks if task.node not in names]
    own = _dag_of(Path(folder)).nodes if unknown else {}
    unknown = [task for task in unknown if not own or task.node in own]
    *before, (since, until) = states.stretches
    last = max((task.end for task in unknown), default=until)
    # Clocks that have nothing to do with each other tell nothing.
    begun = states.stretches[0][0]
    is_one_clock = any(begun <= task.start + _ROUNDED <= last for task in known)
    if last <= until + _ROUNDED or not is_one_clock:
        return states, ()
    nodes = len({task.node for task in unknown})
    why = (
        f"it ends {last - until:.0f} s before the last record, without {nodes} nodes: "
        "the run counts to that record, and those nodes did not queue"
    )
    longer = states._replace(stretches=(*before, (since, last)))
    return longer, (Problem(str(Path(folder, "jobstate.log")), why),)


def on_one_clock(
    tasks: Sequence[Task], nodes: Iterable[NodeTimes]
) -> tuple[list[Task], Mapping[str, float]]:
    """Return ``tasks`` by the clock of the engine, in the order of their starts, and
    each host whose own clock is off: the most seconds.

    A record has the clock of its host. Tasks that end after the job of their node, or
    begin before it, are moved together into it. ``nodes``: without names that a node of
    a sub-workflow has as well.
    """
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.node, []).append(task)
    late = {
        node.node: seconds
        for node in nodes
        if node.node in groups and (seconds := _late(groups[node.node], node))
    }
    off: dict[str, float] = {}
    for name, seconds in late.items():
        host = groups[name][0].host
        off[host] = max(off.get(host, 0.0), abs(seconds))
    moved = (task._replace(start=task.start - late.get(task.node, 0)) for task in tasks)
    return sorted(moved, key=lambda task: task.start), off


def _late(tasks: Sequence[Task], node: NodeTimes) -> int:
    """Return the whole seconds by which ``tasks`` of ``node`` are late; 0 if they are
    in its job, or of another try than the last that the log knows."""
    if node.terminated is None or node.submitted is None:
        return 0
    if node.attempts != tasks[0].retry + 1:
        return 0
    first = min(task.start for task in tasks)
    late = max(task.end for task in tasks) - node.terminated
    if late > _CLOCKS:
        return math.floor(late)
    if first < node.submitted - _CLOCKS:
        return math.floor(first - (node.executing or node.submitted))
    return 0


def with_starts(
    nodes: Iterable[NodeTimes], tasks: Sequence[Task]
) -> tuple[NodeTimes, ...]:
    """Complete ``nodes`` by ``tasks``, which are in the order of their starts: a node
    without an EXECUTE line ran from its first task's start.

    blahp may see the end of a short job before it has asked for its state. If the
    record is of an earlier attempt, the start remains unknown.
    """
    starts = {task.node: task.start for task in reversed(tasks)}
    return tuple(_with_start(node, starts.get(node.node)) for node in nodes)


def _with_start(node: NodeTimes, start: float | None) -> NodeTimes:
    if node.executing is not None or node.submitted is None or start is None:
        return node
    return node._replace(executing=start) if start >= node.submitted else node


def with_waits(tasks: Iterable[Task], nodes: Iterable[NodeTimes]) -> Iterator[Task]:
    """Yield ``tasks``, each with how long its node was ready, then queued."""
    times = {node.node: node for node in nodes}
    for task in tasks:
        node = times.get(task.node, NodeTimes(task.node))
        yield task._replace(queued=node.queue, ready_wait=node.ready_wait)


def with_ready(
    nodes: tuple[NodeTimes, ...], dag: Dag, begins: Sequence[float]
) -> tuple[NodeTimes, ...]:
    """Return ``nodes`` of ``dag``, each with when it was ready.

    ``begins`` has the times at which an engine began to work on it. A node that was
    ready before counts from there. Of a ``dag`` without nodes nothing is known.
    """
    if not dag.nodes:
        return nodes
    ended = {node.node: node.ended for node in nodes if node.ended is not None}
    parents = _last_parents(dag, ended)
    begins = sorted(begins)
    return tuple(
        node._replace(ready=_ready(node, parents.get(node.node), begins))
        for node in nodes
    )


def _ready(
    node: NodeTimes, parents: float | None, begins: Sequence[float]
) -> float | None:
    """Return when it was ready. ``node.ready`` is when the attempt before this one had
    ended."""
    if node.submitted is None:
        return None
    before = bisect_right(begins, node.submitted)
    begun = begins[before - 1] if before else None
    return max((t for t in (parents, begun, node.ready) if t is not None), default=None)


def _last_parents(dag: Dag, ended: Mapping[str, float]) -> dict[str, float]:
    last: dict[str, float] = {}
    for parent, children in dag.children.items():
        if parent in ended:
            time = ended[parent]
            last.update({c: max(time, last.get(c, time)) for c in children})
    return last


def _dag_of(folder: Path) -> Dag:
    """Read the one DAG in ``folder``; an empty one if that cannot be."""
    dags = list(folder.glob("*.dag"))
    try:
        return read_dag(dags[0]) if len(dags) == 1 else Dag()
    except CatalogError:
        return Dag()
