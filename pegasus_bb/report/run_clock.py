"""A run by the clock: what it did in every second, each second counted once.

Jobs run side by side, so their times added up say nothing of the makespan. Here a
second belongs to the first of PARTS that is under way in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
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
    "other",  # between jobs: the engine
)
_PART = {
    Kind.COMPUTE: "compute",
    Kind.STAGE_IN: "stage_in",
    Kind.STAGE_INTER: "stage_in",
    Kind.STAGE_OUT: "stage_out",
    Kind.BB_SETUP: "reserve",
    Kind.BB_DELETE: "release",
}
Interval = tuple[float, float]
Stretches = tuple[Interval, ...]  # from, to: an engine worked on the run


def by_the_clock(run: Run) -> Mapping[str, float]:
    """Return the seconds of each of PARTS; empty if nothing is known of the run.

    They add up to the makespan.
    """
    seconds = [0.0] * len(PARTS)
    events = sorted(_events(run))
    going = [0] * len(PARTS)
    for (since, part, step), (until, _, _) in pairwise(events):
        going[part] += step
        if until > since:
            for first, count in enumerate(going):
                if count:
                    seconds[first] += until - since
                    break
    return dict(zip(PARTS, seconds, strict=True)) if events else {}


def _events(run: Run) -> Iterator[tuple[float, int, int]]:
    """Yield when something began and ended: time, which part, +1 or -1."""
    place = {name: at for at, name in enumerate(PARTS)}
    for name, since, until in _intervals(run):
        if since is not None and until is not None and until > since:
            part = place[name]
            yield since, part, 1
            yield until, part, -1


def _intervals(run: Run) -> Iterator[tuple[str, float | None, float | None]]:
    for task in run.tasks:
        yield _PART.get(task.kind, "auxiliary"), task.start, task.end
    stretches = _exact_stretches(run)
    pairs = zip(run.stretches, stretches, strict=True)
    exact = {rounded: since for (rounded, _), (since, _) in pairs}
    for since, until in _gates(run):
        yield "gate_wait", since, until
    mode = run.planned_mode
    is_for_jobs = mode is not None and mode.has_job_reservations
    ends = {task.node: task.end for task in run.tasks if task.kind is Kind.COMPUTE}
    for node in run.nodes:
        yield "queue", node.submitted, node.executing
        for since, until in node.unsubmitted:
            yield "ready_wait", exact.get(since, since), until
        if is_for_jobs and node.node in ends and node.terminated is not None:
            # Its POST script began after the last task: the log has no fractions.
            yield "stage_out", max(node.terminated, ends[node.node]), node.ended
    yield from (("other", *stretch) for stretch in stretches)
    if not stretches:
        yield "other", *_all_tasks(run)


def _all_tasks(run: Run) -> tuple[float | None, float | None]:
    """Return when the first task started, and when the last one ended."""
    first = min((task.start for task in run.tasks), default=None)
    return first, max((task.end for task in run.tasks), default=None)


def begun(run: Run) -> float | None:
    """Return when it began, in seconds since the epoch."""
    if run.stretches:
        return _exact(min(run.stretches)[0], run)
    return _all_tasks(run)[0]


def exact_makespan(run: Run) -> float:
    """Return the seconds in which an engine worked on it."""
    return math.fsum(until - since for since, until in _exact_stretches(run))


def _exact_stretches(run: Run) -> list[Interval]:
    ends = [task.end for task in run.tasks]
    exact = ((_exact(since, run), _last_in(to, ends)) for since, to in run.stretches)
    return [(since, max(since, until)) for since, until in exact]


def _exact(since: float, run: Run) -> float:
    """Complete a whole second by the first task in it: a job state log leaves out
    fractions. A first task of the next second says that the log's was late in its own:
    an engine's first task comes soon."""
    starts = [task.start for task in run.tasks]
    found = _first_in(since, starts)
    is_late = found == since and _first_in(since + 1, starts) > since + 1
    return since + 1 if is_late else found


def _first_in(second: float, times: Iterable[float]) -> float:
    return min(_within(second, times), default=second)


def _last_in(second: float, times: Iterable[float]) -> float:
    return max(_within(second, times), default=second)


def _within(second: float, times: Iterable[float]) -> list[float]:
    """Return those of ``times`` in that second; none if it has a fraction: it is exact
    already."""
    return [t for t in times if second == int(second) and second <= t < second + 1]


def gate_wait(run: Run) -> float | None:
    """Return the seconds that the gate, the PRE script of a create_dir node, held its
    job."""
    return max((until - since for since, until in _gates(run)), default=None)


def _gates(run: Run) -> list[Interval]:
    """Return the time from the first question to the answer, of each gate that
    ended."""
    gated = {task.node for task in run.tasks if task.kind is Kind.CREATE_DIR}
    return [
        _exact_gate(node.pre_started, node.pre_ended, node.node, run)
        for node in run.nodes
        if node.node in gated
        and node.pre_started is not None
        and node.pre_ended is not None
    ]


def _exact_gate(since: float, until: float, node: str, run: Run) -> Interval:
    """Complete whole seconds: without fractions a wait of a moment reads as a second,
    or as none. It begins when bb_setup has ended, and its job starts when it is
    over."""
    setups = [task.end for task in run.tasks if task.kind is Kind.BB_SETUP]
    starts = [task.start for task in run.tasks if task.node == node]
    begun = _last_in(since, setups)
    return begun, max(begun, _first_in(until, starts))


def stood_still(stretches: Stretches, since: float, until: float) -> float:
    """Return the seconds between those times in which no engine worked on a run."""
    return sum(
        max(0.0, min(begin, until) - max(end, since))
        for (_, end), (begin, _) in pairwise(stretches)
    )


@dataclass(frozen=True, slots=True)
class RunTime:
    """The time within a run."""

    begun: float | None  # seconds since the epoch; None where nothing is known of it
    stretches: Stretches

    def at(self, time: float) -> float:
        """Return the seconds since it began, to the microsecond."""
        begun = time if self.begun is None else self.begun
        return round((time - begun) - stood_still(self.stretches, begun, time), 6)


def run_time(run: Run) -> RunTime:
    """Begin with the gate or the first task, whichever is first."""
    times = (gate_began(run), _all_tasks(run)[0])
    begun = min((time for time in times if time is not None), default=None)
    return RunTime(begun, run.stretches)


def gate_began(run: Run) -> float | None:
    """Return when the gate that held its job back longest was first asked."""
    gates = _gates(run)
    return max(gates, key=lambda gate: gate[1] - gate[0])[0] if gates else None
