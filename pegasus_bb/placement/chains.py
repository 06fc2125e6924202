"""How long a reservation for a part of the levels lasts, and the run with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from pegasus_bb.model.graph import Graph
from pegasus_bb.placement.lasting import Lasting


@dataclass(frozen=True, slots=True)
class Chains:
    """Figures in the unit of ``lasts``."""

    lasts: Lasting
    after: Sequence[float]  # of levels: the longest chain of jobs behind each, from 0
    steps: Sequence[float]  # the longest jobs of the levels up to each, from 0

    def kept(self, opens: int, closes: int) -> float:
        """From after level ``opens`` to after ``closes``, filling and emptying
        included; never less than the longest chain of jobs in between, for none of
        these begins before the reservation is there."""
        to_the_end = self.lasts.until[closes - 1]
        if not opens:
            return to_the_end
        filled = 2 * self.lasts.around
        between = self.steps[closes] - self.steps[opens]
        return min(to_the_end, min(self.after[opens], between) + filled)

    def longer(self, opens: int) -> float:
        """What the run takes longer where no job behind level ``opens`` begins before
        all jobs up to there have ended."""
        if not opens:
            return 0.0
        return max(0.0, self.lasts.until[opens - 1] + self.after[opens] - self.span)

    @property
    def span(self) -> float:
        """Of the whole run."""
        return self.lasts.span


def chains(graph: Graph, lasts: Lasting) -> Chains:
    """Linear in jobs and edges."""
    levels = len(lasts.until)
    longest, behind = [0.0] * (levels + 1), [0.0] * (levels + 1)
    tails: dict[str, float] = {}
    for ident in reversed(graph.order):
        takes, level = lasts.rooms[ident] - lasts.around, graph.level[ident]
        below = (tails[child] for child in graph.children[ident])
        tails[ident] = takes + max(below, default=0.0)
        longest[level] = max(longest[level], takes)
        behind[level - 1] = max(behind[level - 1], tails[ident])
    after = list(accumulate(reversed(behind), max))[::-1]
    return Chains(lasts, after, list(accumulate(longest)))
