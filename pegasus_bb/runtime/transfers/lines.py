"""Copies that want one place stand in a line, in the order of the job list.

Neighbours in a line that would copy the same once more are one copy.
"""

from __future__ import annotations

from collections import deque
from typing import Deque, Dict, List

from pegasus_bb.runtime.transfers.ways import Way


class Lines:
    """A line for each place that something is to be copied to."""

    def __init__(self) -> None:
        self._lines: Dict[str, Deque[List[Way]]] = {}

    def add(self, place: str, way: Way) -> None:
        """``way`` comes after all that are in the line of ``place``."""
        line = self._lines.setdefault(place, deque())
        if line and _is_same(line[-1][0], way):
            line[-1].append(way)
        else:
            line.append([way])

    def __bool__(self) -> bool:
        return bool(self._lines)

    def pop(self) -> List[List[Way]]:
        """The first of each line, and with it those that the same copy does for."""
        found = [line.popleft() for line in self._lines.values()]
        self._lines = {place: line for place, line in self._lines.items() if line}
        return found


def _is_same(one: Way, other: Way) -> bool:
    """Whether one copy, and one line in the manifest, do for both."""
    job, same = one.attempt.job, other.attempt.job
    wanted = (job.lfn, job.executable) == (same.lfn, same.executable)
    return wanted and one[1:] == other[1:]
