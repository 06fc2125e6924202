"""jobstate.log, as Pegasus's monitord and our own engine write it -> when things were.

A line is ``<epoch> <node> <state> <HTCondor id> <site> <walltime> <sequence>``, or
``<epoch> INTERNAL *** DAGMAN_STARTED <id> ***``. Lines need not be in order of time.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.model.run import NodeTimes

_FIELD = {
    "PRE_SCRIPT_SUCCESS": "pre_ended",
    "PRE_SCRIPT_FAILURE": "pre_ended",
    "EXECUTE": "executing",
    "JOB_TERMINATED": "terminated",
    "POST_SCRIPT_SUCCESS": "ended",
    "POST_SCRIPT_FAILURE": "ended",
}
_LATEST = 1e11  # seconds since the epoch: 3,000 years


class Line(NamedTuple):
    """One event; the node is INTERNAL if it is about the workflow itself."""

    time: float
    node: str
    state: str


class JobStates(NamedTuple):
    nodes: tuple[NodeTimes, ...] = ()
    stretches: tuple[tuple[float, float], ...] = ()  # from, to: an engine worked on it
    unread: int = 0  # lines that are not of the format


def read_jobstate(path: Path) -> JobStates:
    """Read the log at ``path``. Raises OSError if it cannot be read."""
    with path.open(encoding="utf-8", errors="replace") as source:
        return job_states(source)


def job_states(text: Iterable[str]) -> JobStates:
    found = [_parse(raw) for raw in text if raw.strip()]
    lines = [line for line in found if line is not None]
    return JobStates(_nodes(lines), _stretches(lines), len(found) - len(lines))


def _parse(raw: str) -> Line | None:
    words = raw.split()
    if len(words) < 3:
        return None
    try:
        time = float(words[0])
    except ValueError:
        return None
    if not 0 <= time < _LATEST:  # also what is no number
        return None
    state = words[3] if words[1] == "INTERNAL" and len(words) > 3 else words[2]
    return Line(time, words[1], state)


def _nodes(lines: Iterable[Line]) -> tuple[NodeTimes, ...]:
    nodes: dict[str, NodeTimes] = {}
    for line in lines:
        if line.node != "INTERNAL":
            before = nodes.get(line.node, NodeTimes(line.node))
            nodes[line.node] = _advance(before, line)
    return tuple(nodes.values())


def _advance(node: NodeTimes, line: Line) -> NodeTimes:
    if line.state == "PRE_SCRIPT_STARTED":
        if node.pre_started is not None and node.pre_ended is None:
            return node  # deferred, and asked again
        return node._replace(pre_started=line.time, pre_ended=None)
    if line.state == "SUBMIT":
        return node._replace(
            ready=node.ended,
            submitted=line.time,
            executing=None,
            terminated=None,
            ended=None,
            attempts=node.attempts + 1,
        )
    if line.state in ("JOB_SUCCESS", "JOB_FAILURE") and node.ended is None:
        return node._replace(ended=line.time)
    name = _FIELD.get(line.state)
    return node._replace(**{name: line.time}) if name else node  # type: ignore[arg-type]


def _stretches(lines: Iterable[Line]) -> tuple[tuple[float, float], ...]:
    """Return each time from a start of the engine to its end or last sign of life: a
    run that was resumed is not charged for the pause.

    A DAGMan that recovers was away itself: its jobs went on.
    """
    found: list[tuple[float, float]] = []
    for time, node, state in lines:
        is_of_run = node == "INTERNAL"
        recovers = is_of_run and state == "RECOVERY_STARTED"
        if is_of_run and (state == "DAGMAN_STARTED" or (recovers and not found)):
            found.append((time, time))
            continue
        if recovers and len(found) > 1:
            found.pop()
        if found and (recovers or not is_of_run or state == "DAGMAN_FINISHED"):
            since, last = found[-1]
            found[-1] = (since, max(last, time))
    return tuple(found)
