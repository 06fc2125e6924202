"""When jobs began to run of which the job state log does not say so.

Of a short job blahp may see the end before it has asked how it is: there is no EXECUTE
line then, and how long the job queued is in its record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pegasus_bb.model.run import NodeTimes, Task


def with_starts(
    nodes: Iterable[NodeTimes], tasks: Sequence[Task]
) -> tuple[NodeTimes, ...]:
    """``nodes``, each with when it ran: else from when its first task's record is."""
    starts: dict[str, float] = {}
    for task in tasks:
        starts[task.node] = min(task.start, starts.get(task.node, task.start))
    return tuple(_with_start(node, starts.get(node.node)) for node in nodes)


def with_queued(tasks: Iterable[Task], nodes: Iterable[NodeTimes]) -> Iterator[Task]:
    """``tasks``, each with how long its node of ``nodes`` queued."""
    queued = {node.node: node.queue for node in nodes}
    for task in tasks:
        waited = queued.get(task.node) if task.queued is None else None
        yield task if waited is None else replace(task, queued=waited)


def _with_start(node: NodeTimes, start: float | None) -> NodeTimes:
    """A record of an attempt before the last was not queued for."""
    if node.executing is not None or node.submitted is None or start is None:
        return node
    return replace(node, executing=start) if start >= node.submitted else node
