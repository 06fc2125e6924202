"""How fast each worker may go: the rate of a target is shared by those who use it."""

from __future__ import annotations

from typing import Iterable, List, Set, Tuple

from pegasus_bb.service.crew import WorkerProcess
from pegasus_bb.service.dataspace import Dataspaces
from pegasus_bb.service.task import Task


def pair_of(task: Task) -> Tuple[str, str]:
    """The dataspaces of its source and of its destination; empty if it has none."""
    return task.source.partition("://")[0], task.dest.partition("://")[0]


def share_rates(workers: List[WorkerProcess], spaces: Dataspaces) -> None:
    """Tell every worker the rate that it has now, if it has changed."""
    using = {worker: _targets(worker.tasks.values(), spaces) for worker in workers}
    for worker, targets in using.items():
        limits = [task.rate for task in worker.tasks.values()]
        for target in targets:
            sharers = sum(1 for others in using.values() if target in others)
            limits.append(_limit(target, spaces) / sharers)
        rate = min((limit for limit in limits if limit > 0), default=0.0)
        if rate != worker.rate:
            worker.rate = rate
            worker.send({"rate": rate})


def _targets(tasks: Iterable[Task], spaces: Dataspaces) -> Set[str]:
    names = {name for task in tasks for name in pair_of(task) if name in spaces}
    return {spaces[name].target or name for name in names}


def _limit(target: str, spaces: Dataspaces) -> float:
    rates = [s.rate for s in spaces.values() if (s.target or s.name) == target]
    return max(rates, default=0.0)
