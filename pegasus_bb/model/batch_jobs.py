"""The jobs that the batch system gets: chains, and the jobs outside of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

from pegasus_bb.model.graph import Graph


class BatchJobs:
    """A DAG in which each chain is one job, under the name of its first one.

    ``parents`` and ``children`` are in a topological order. Linear in the workflow, but
    for heaps.
    """

    def __init__(
        self, graph: Graph, found: Sequence[Sequence[str]], times: Mapping[str, float]
    ) -> None:
        """``times``: seconds of every job."""
        self.head = head = {job: job for job in graph.order}  # job -> its batch job
        head.update((job, chain[0]) for chain in found for job in chain)
        self.parents: dict[str, list[str]] = {}
        self.children: dict[str, list[str]] = {}
        self.seconds: dict[str, float] = dict.fromkeys(head.values(), 0.0)
        self.level: dict[str, int] = {}
        for job in graph.order:
            self.seconds[head[job]] += times[job]
            if head[job] == job:  # all first jobs of a chain have the same parents
                above = dict.fromkeys(head[parent] for parent in graph.parents[job])
                self.parents[job] = list(above)
                self.children[job] = []
                for parent in above:
                    self.children[parent].append(job)
                self.level[job] = 1 + max((self.level[x] for x in above), default=0)
        self.of_level = Counter(self.level.values())  # level -> its batch jobs

    @property
    def width(self) -> int:
        """The most of one level."""
        return max(self.of_level.values(), default=0)

    def ends(self, slots: float = math.inf) -> float:
        """Seconds until all have ended. They begin as they get ready, if a slot is
        free."""
        waits = {job: len(above) for job, above in self.parents.items()}
        ready = [(0.0, job) for job, count in waits.items() if not count]
        begins = dict.fromkeys(self.parents, 0.0)
        free = [0.0] * int(min(slots, len(waits)))
        last = 0.0
        heapify(ready)
        while ready:
            since, job = heappop(ready)
            end = max(since, heappop(free)) + self.seconds[job]
            heappush(free, end)
            last = max(last, end)
            for child in self.children[job]:
                begins[child] = max(begins[child], end)
                waits[child] -= 1
                if not waits[child]:
                    heappush(ready, (begins[child], child))
        return last
