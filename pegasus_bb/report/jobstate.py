"""jobstate.log, as Pegasus's monitord and our own engine write it -> when things were.

A line is ``<epoch> <node> <state> <HTCondor id> <site> <walltime> <sequence>``, or
``<epoch> INTERNAL *** DAGMAN_STARTED <id> ***``. Lines need not be in order of time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
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


@dataclass(frozen=True, slots=True)
class JobStates:
    nodes: tuple[NodeTimes, ...] = ()
    makespan: float | None = None  # seconds in which the run was under way
    stretches: tuple[tuple[float, float], ...] = ()  # from, to: an engine worked on it
    still: tuple[tuple[float, float], ...] = ()  # from, to: none did, in between
    unread: int = 0  # lines that are not of the format


@dataclass(slots=True)
class _Span:
    """A stretch from a start of the engine to its end or last sign of life."""

    begin: float
    last: float

    @property
    def seconds(self) -> float:
        return max(0.0, self.last - self.begin)


def read_jobstate(path: Path) -> JobStates:
    """Read the log at ``path``. Raises OSError if it cannot be read."""
    with path.open(encoding="utf-8", errors="replace") as source:
        return job_states(source)


def job_states(text: Iterable[str]) -> JobStates:
    lines: list[Line] = []
    unread = 0
    for raw in text:
        line = _parse(raw)
        if line is not None:
            lines.append(line)
        elif raw.strip():
            unread += 1
    spans = _spans(lines)
    makespan = sum(span.seconds for span in spans) if spans else None
    stretches = tuple((span.begin, max(span.begin, span.last)) for span in spans)
    return JobStates(_nodes(lines), makespan, stretches, _between(spans), unread)


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
        return replace(node, pre_started=line.time, pre_ended=None)
    if line.state == "SUBMIT":
        return replace(
            node,
            ready=node.ended,
            submitted=line.time,
            executing=None,
            terminated=None,
            ended=None,
            attempts=node.attempts + 1,
        )
    if line.state in ("JOB_SUCCESS", "JOB_FAILURE") and node.ended is None:
        return replace(node, ended=line.time)
    name = _FIELD.get(line.state)
    return replace(node, **{name: line.time}) if name else node  # type: ignore[arg-type]


def _spans(lines: Iterable[Line]) -> list[_Span]:
    """Find when it was under way: a run that was resumed is not charged for the pause.

    A DAGMan that recovers was away itself: its jobs went on.
    """
    spans: list[_Span] = []
    for line in lines:
        state = line.state if line.node == "INTERNAL" else ""
        if state == "DAGMAN_STARTED" or (state == "RECOVERY_STARTED" and not spans):
            spans.append(_Span(line.time, line.time))
        elif state == "RECOVERY_STARTED":
            if len(spans) > 1:
                spans.pop()
            spans[-1].last = max(spans[-1].last, line.time)
        elif spans and (not state or state == "DAGMAN_FINISHED"):
            spans[-1].last = max(spans[-1].last, line.time)
    return spans


def _between(spans: list[_Span]) -> tuple[tuple[float, float], ...]:
    ends = ((before.last, after.begin) for before, after in pairwise(spans))
    return tuple((since, until) for since, until in ends if since < until)
