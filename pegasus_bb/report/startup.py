"""What starting jobs took in a run: from the times of its nodes and its records."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from statistics import fmean, median

from pegasus_bb.model.history import DEFAULT_STARTUP, Startup
from pegasus_bb.model.run import Kind, NodeTimes, Run, Task

_FEW = 4  # nodes: of fewer, whole seconds of a job state log tell nothing
_OWN = (Kind.CREATE_DIR, Kind.CLEANUP)  # the planner's own that move nothing


def startup_of(run: Run) -> Startup | None:
    """Learn what starting took; None without a job state log. Its times are whole
    seconds: the differences of many nodes are right in their mean.

    Waiting in the queue is that of nodes that found a slot free: others waited for one,
    which is no part of starting. Of a few tasks the seconds of the log tell nothing;
    the records of a chain have fractions.
    """
    times = {node.node: node for node in run.nodes}
    found = [(t, times[t.node]) for t in run.tasks if t.node in times]
    tasks = [pair for pair in found if pair[0].kind is Kind.COMPUTE]
    if len(_begun(run.nodes)) < _FEW:
        return None
    around = _around(tasks)
    job = min(DEFAULT_STARTUP.job, _between(run.tasks)) if around is None else around
    own = [task.duration for task, _ in found if task.kind in _OWN]
    learned = replace(DEFAULT_STARTUP, queue=_queue(run.nodes), job=job)
    return replace(learned, own=median(own) + job) if own else learned


def _around(pairs: Iterable[tuple[Task, NodeTimes]]) -> float | None:
    """Return the seconds in the slot beside the task."""
    seconds = [
        node.terminated - node.executing - task.duration
        for task, node in pairs
        if node.terminated is not None and node.executing is not None
    ]
    return max(0.0, fmean(seconds)) if len(seconds) >= _FEW else None


def _between(tasks: Sequence[Task]) -> float:
    """Return the median of the seconds from the end of a task to the next start: in a
    chain, what starting the next task took."""
    ends = sorted(task.end for task in tasks)
    starts = (task.start for task in tasks if task.start >= ends[0])
    gaps = [start - ends[bisect_right(ends, start) - 1] for start in starts]
    return median(gaps) if len(gaps) >= _FEW else DEFAULT_STARTUP.job


def _queue(nodes: Iterable[NodeTimes]) -> float:
    """Return the mean of nodes that found a slot free; the least of all if these are
    few. There are as many slots as nodes ever had at the same time."""
    begun = _begun(nodes)
    slots = _most([(node.executing, node.terminated) for node in begun])
    begins = sorted(map(_ready, begun))
    ends = sorted(n.terminated for n in begun if n.terminated is not None)
    waits = [(node.ready_wait or 0.0) + (node.queue or 0.0) for node in begun]
    free = [
        wait
        for node, wait in zip(begun, waits, strict=True)
        if bisect_right(begins, _ready(node)) - bisect_right(ends, _ready(node))
        <= slots
    ]
    return fmean(free) if len(free) >= _FEW else min(waits)


def _begun(nodes: Iterable[NodeTimes]) -> list[NodeTimes]:
    return [node for node in nodes if node.executing is not None]


def _ready(node: NodeTimes) -> float:
    return (node.submitted or 0.0) if node.ready is None else node.ready


def _most(spans: Sequence[tuple[float | None, float | None]]) -> int:
    """Return how many spans overlap at most."""
    changes = [(since, 1) for since, _ in spans if since is not None]
    changes += [(until, -1) for _, until in spans if until is not None]
    return max(accumulate(change for _, change in sorted(changes)), default=0)
