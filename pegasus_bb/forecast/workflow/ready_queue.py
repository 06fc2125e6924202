"""Nodes that are ready and wait for a slot."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from pegasus_bb.forecast.demands.demand import Demand
from pegasus_bb.forecast.workflow.moved_files import Work
from pegasus_bb.forecast.workflow.outline import PRIORITY, Outline


class ReadyQueue:
    """The higher priority goes first, then the place in the outline."""

    def __init__(
        self, outline: Outline, work: Sequence[Work], demands: Sequence[Demand]
    ) -> None:
        count = len(outline.nodes)
        kinds = (node.kind for node in outline.nodes)
        # Below zero of nodes with a priority, the place itself of tasks.
        self._turn = [
            at - PRIORITY.get(kind, 0) * count for at, kind in enumerate(kinds)
        ]
        self._tasks, self._work, self._demands = outline.tasks, work, demands
        self._ready: list[int] = []

    def add(self, at: int) -> None:
        heappush(self._ready, self._turn[at])

    def next(self, most: int) -> list[int]:
        """The first node, and of those right after it up to ``most`` in all that do the
        same: they start together, get the same from every server, and end together.
        Empty if none is ready."""
        ready = self._ready
        work = self._work
        demands = self._demands
        if not ready:
            return []
        first = heappop(ready) % len(self._turn)
        group = [first]
        if first < self._tasks:
            what = work[first]
            demand = demands[first]
            while ready and len(group) < most:
                at = ready[0]  # of a task: none with a priority comes after one
                if work[at] is not what or demands[at] is not demand:
                    break
                group.append(heappop(ready))
        return group
