"""Whether jobs that could run at the same time are faster as one chain.

Below a job with several children a chain runs what is below each of them, its *parts*,
one after the other on its slot, and what the parts read is there. Apart they have the
slots that no other batch job of their level takes, and the files go through the PFS.
Both times begin when the job has computed, and end with the longest path below it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from pegasus_bb.decide.decision import PlanningInput, WeighedCut
from pegasus_bb.decide.job_reservations import staying
from pegasus_bb.model.history import most_at_once
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.speeds import Speed, Speeds

_NO_LIMIT = Speed(math.inf, math.inf, math.inf, math.inf)


class ChainForecast:
    """Splits chains where parts are faster apart; ``cuts`` has each comparison."""

    def __init__(
        self,
        given: PlanningInput,
        placement: Placement,
        speeds: Speeds,
        times: Mapping[str, float],
    ) -> None:
        """``times``: seconds by job. One that is not known takes the median."""
        usual = median(times.values())
        self._given, self._placement = given, placement
        self._children = given.graph.children
        self._pfs = speeds.pfs
        self._disk = speeds.places.get(placement.tier.name, _NO_LIMIT)
        at_once = most_at_once(given.history) or math.inf
        self._slots = speeds.slots if speeds.states_slots else at_once
        self._seconds = {job: times.get(job, usual) for job in given.graph.order}
        self._path: dict[str, float] = {}  # the longest that begins with a job
        for job in reversed(given.graph.order):
            below = (self._path[child] for child in self._children[job])
            self._path[job] = self._seconds[job] + max(below, default=0.0)
        self.cuts: list[WeighedCut] = []

    def split(self, chains: Sequence[Sequence[str]]) -> list[Sequence[str]]:
        """``chains``, or what is left of them."""
        graph = self._given.graph
        inside = {job for chain in chains for job in chain[1:]}
        width = Counter(graph.level[x] for x in graph.order if x not in inside)
        pieces: dict[str, list[str]] = {}
        head_of: dict[str, str] = {}
        for chain in chains:
            heads = {chain[0], *self._heads(chain, width[graph.level[chain[0]]])}
            for job in chain:
                head_of[job] = job if job in heads else head_of[graph.parents[job][0]]
                pieces.setdefault(head_of[job], []).append(job)
        return [piece for piece in pieces.values() if len(piece) > 1]

    def _heads(self, chain: Sequence[str], width: int) -> set[str]:
        """The jobs that are to begin anew. ``width``: the batch jobs of this level."""
        heads: set[str] = set()
        part: dict[str, float] = {}  # seconds of what runs in order from a job on
        tail: dict[str, float] = {}  # of the longest path that begins outside of that
        inside = set(chain)
        for job in reversed(chain):
            children = self._children[job]
            parts = {child: part[child] for child in children if child in inside}
            others = [self._path[child] for child in children if child not in inside]
            tail[job] = max((*others, *(tail[child] for child in parts)), default=0.0)
            if parts and len(children) > 1:
                cut = self._weighed(job, parts, tail[job], width)
                self.cuts.append(cut)
                if not cut.is_taken:
                    heads.update(parts)
                    parts = {}
                    tail[job] = self._path[job] - self._seconds[job]
            part[job] = self._seconds[job] + sum(parts.values())
        return heads

    def _weighed(
        self, job: str, parts: Mapping[str, float], tail: float, width: int
    ) -> WeighedCut:
        jobs = self._given.workflow.jobs
        pfs = self._pfs
        lfns = (use.lfn for use in jobs[job].outputs())
        made = {lfn for lfn in lfns if self._placement.on_tier(lfn)}
        together = [jobs[ident] for ident in (job, *parts)]
        stay = staying(self._given, self._placement, together, made)
        rate = pfs.write / min(self._slots, width)  # of each that does so then
        written = self._copying(stay, min(rate, pfs.job_write, self._disk.job_read))
        rate = pfs.read / min(self._slots, width * len(parts))
        rate = min(rate, pfs.job_read, self._disk.job_write)
        ready = {}
        for child in parts:
            read = [use.lfn for use in jobs[child].inputs() if use.lfn in made]
            ready[child] = self._copying(read, rate)
        children = self._children[job]
        path = max(ready.get(child, 0.0) + self._path[child] for child in children)
        in_order = sum(parts.values()) + tail
        slots = max(1.0, self._slots / width)
        apart = written + max(path, (sum(ready.values()) + in_order) / slots)
        return WeighedCut(job, tuple(parts), self._size(stay), in_order, apart)

    def _copying(self, lfns: Sequence[str], rate: float) -> float:
        opening = self._pfs.latency + self._disk.latency
        return self._size(lfns) / rate + len(lfns) * opening

    def _size(self, lfns: Sequence[str]) -> int:
        return sum(self._placement.files[lfn].size or 0 for lfn in lfns)
