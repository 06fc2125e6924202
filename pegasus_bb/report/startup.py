"""What starting jobs took in a run: from the times of its nodes and its records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from statistics import fmean, median

from pegasus_bb.model.run import Kind, NodeTimes, Run, Task
from pegasus_bb.model.startup import DEFAULT, Startup

_FEW = 4  # nodes: of fewer, whole seconds of a job state log tell nothing
_OWN = (Kind.CREATE_DIR, Kind.CLEANUP)  # the planner's own that move nothing


def startup_of(run: Run) -> Startup | None:
    """None without a job state log. Its times are whole seconds: the differences of
    many nodes are right in their mean.

    Waiting in the queue is that of the quickest job: others waited for a slot, which is
    no part of starting.
    """
    times = {node.node: node for node in run.nodes}
    found = [(t, times[t.node]) for t in run.tasks if t.node in times]
    tasks = [pair for pair in found if pair[0].kind is Kind.COMPUTE]
    if len(tasks) < _FEW:
        return None
    around = _around(tasks)
    job = DEFAULT.job if around is None else around
    own = [task.duration for task, _ in found if task.kind in _OWN]
    learned = replace(DEFAULT, queue=_queue(tasks), job=job)
    return replace(learned, own=median(own) + job) if own else learned


def _around(pairs: Iterable[tuple[Task, NodeTimes]]) -> float | None:
    """Seconds in the slot beside the task."""
    seconds = [
        node.terminated - node.executing - task.duration
        for task, node in pairs
        if node.terminated is not None and node.executing is not None
    ]
    return max(0.0, fmean(seconds)) if len(seconds) >= _FEW else None


def _queue(pairs: Iterable[tuple[Task, NodeTimes]]) -> float:
    return min((node.ready_wait or 0.0) + (node.queue or 0.0) for _, node in pairs)
