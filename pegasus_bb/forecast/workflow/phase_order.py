"""Phases of a run: what has no space at once runs one part after the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from pegasus_bb.forecast.workflow.outline import Outline


class Phases:
    """Barriers: a node starts when all of the phases before have ended."""

    def __init__(self, outline: Outline, ends: Sequence[int]) -> None:
        self._phase = [
            min(bisect_left(ends, node.level), len(ends) - 1) for node in outline.nodes
        ]
        self._left = [0] * len(ends)
        for phase in self._phase:
            self._left[phase] += 1
        self._now = 0
        self._late: dict[int, list[int]] = {}  # ready but for their phase

    def may_start(self, at: int) -> bool:
        if self._phase[at] <= self._now:
            return True
        self._late.setdefault(self._phase[at], []).append(at)
        return False

    def ended(self, at: int) -> list[int]:
        """Return the nodes that may start because ``at`` has ended."""
        self._left[self._phase[at]] -= 1
        freed: list[int] = []
        while self._now < len(self._left) - 1 and not self._left[self._now]:
            self._now += 1
            freed += self._late.pop(self._now, [])
        return freed
