"""A run by the clock: what it did in every second, each second counted once.

Jobs run side by side, so their times added up say nothing of the makespan. Here a
second belongs to the first of PARTS that is under way in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from pegasus_bb.model.run import Kind, Run

PARTS = (
    "compute",
    "stage_in",
    "stage_out",
    "auxiliary",
    "reserve",
    "release",
    "gate_wait",
    "queue",
    "ready_wait",  # a node could be submitted, and was not
    "other",  # between jobs: the engine's own time
)
_PART = {
    Kind.COMPUTE: "compute",
    Kind.STAGE_IN: "stage_in",
    Kind.STAGE_INTER: "stage_in",
    Kind.STAGE_OUT: "stage_out",
    Kind.BB_SETUP: "reserve",
    Kind.BB_DELETE: "release",
}
_ROOMS = ("transient", "hybrid")  # where a job's own POST script waits for its results
Interval = tuple[float, float]


def by_the_clock(run: Run) -> Mapping[str, float]:
    """PARTS -> seconds; empty where nothing is known of the run.

    They add up to the makespan.
    """
    seconds = [0.0] * len(PARTS)
    events = sorted(_events(run))
    going = [0] * len(PARTS)
    for (since, part, step), (until, _, _) in pairwise(events):
        going[part] += step
        if until > since:
            first = next((n for n, count in enumerate(going) if count), None)
            if first is not None:
                seconds[first] += until - since
    return dict(zip(PARTS, seconds, strict=True)) if events else {}


def _events(run: Run) -> Iterator[tuple[float, int, int]]:
    """When something began and ended: time, which part, +1 or -1."""
    for name, (since, until) in _intervals(run):
        if until > since:
            part = PARTS.index(name)
            yield since, part, 1
            yield until, part, -1


def _intervals(run: Run) -> Iterator[tuple[str, Interval]]:
    for task in run.tasks:
        yield _PART.get(task.kind, "auxiliary"), (task.start, task.end)
    gated = gated_nodes(run)
    stretches = _exact_stretches(run)
    pairs = zip(run.stretches, stretches, strict=True)
    exact = {rounded: since for (rounded, _), (since, _) in pairs}
    for node in run.nodes:
        if node.node in gated:
            yield from _named("gate_wait", node.pre_started, node.pre_ended)
        yield from _named("queue", node.submitted, node.executing)
        for since, until in node.unsubmitted:
            yield "ready_wait", (exact.get(since, since), until)
        if run.mode in _ROOMS:
            yield from _named("stage_out", node.terminated, node.ended)
    for stretch in stretches:
        yield "other", stretch
    if not run.stretches and run.tasks:
        first = min(task.start for task in run.tasks)
        yield "other", (first, max(task.end for task in run.tasks))


def begun(run: Run) -> float | None:
    """When it began, in seconds since the epoch."""
    if run.stretches:
        return _exact(min(since for since, _ in run.stretches), run)
    return min((task.start for task in run.tasks), default=None)


def exact_makespan(run: Run) -> float | None:
    """Seconds in which an engine worked on it; None without a job state log."""
    if not run.stretches:
        return None
    return math.fsum(until - since for since, until in _exact_stretches(run))


def _exact_stretches(run: Run) -> list[Interval]:
    ends = (
        (_exact(since, run), _exact_end(until, run)) for since, until in run.stretches
    )
    return [(since, max(since, until)) for since, until in ends]


def _exact(since: float, run: Run) -> float:
    """A job state log leaves out fractions: the first task of that second tells."""
    if since != int(since):
        return since
    starts = (task.start for task in run.tasks if since <= task.start < since + 1)
    return min(starts, default=since)


def _exact_end(until: float, run: Run) -> float:
    """The last task that ends in that second tells."""
    if until != int(until):
        return until
    ends = (task.end for task in run.tasks if until <= task.end < until + 1)
    return max(ends, default=until)


def _named(
    part: str, since: float | None, until: float | None
) -> Iterator[tuple[str, Interval]]:
    if since is not None and until is not None:
        yield part, (since, until)


def gated_nodes(run: Run) -> set[str]:
    return {task.node for task in run.tasks if task.kind is Kind.CREATE_DIR}


def gate_wait(run: Run) -> float | None:
    """Seconds that the gate, the PRE script of a create_dir node, held its job."""
    gated = gated_nodes(run)
    waits = (node.pre_wait for node in run.nodes if node.node in gated)
    return max((wait for wait in waits if wait is not None), default=None)


@dataclass(frozen=True, slots=True)
class RunTime:
    """What time it is in a run."""

    begun: float | None  # seconds since the epoch; None where nothing is known of it
    still: tuple[tuple[float, float], ...]  # from, to: no engine worked on it

    def at(self, time: float) -> float:
        """Seconds since it began, to the microsecond."""
        begun = time if self.begun is None else self.begun
        passed = (time - begun) - sum(
            max(0.0, min(until, time) - max(since, begun))
            for since, until in self.still
        )
        return round(passed, 6)


def run_time(run: Run) -> RunTime:
    """It begins with the gate or the first task, whichever is first."""
    gate = gate_began(run)
    times = [task.start for task in run.tasks] + ([] if gate is None else [gate])
    between = ((one[1], other[0]) for one, other in pairwise(run.stretches))
    return RunTime(min(times, default=None), tuple(between))


def gate_began(run: Run) -> float | None:
    """When the gate was first asked that held its job back longest."""
    gated = gated_nodes(run)
    waited = [
        (node.pre_wait, node.pre_started)
        for node in run.nodes
        if node.node in gated
        and node.pre_wait is not None
        and node.pre_started is not None
    ]
    return max(waited)[1] if waited else None
