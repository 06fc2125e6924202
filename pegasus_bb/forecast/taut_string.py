"""The evenest way through a corridor: a string pulled taut between its two walls."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import pairwise
from operator import gt, lt
from typing import NamedTuple, TypeAlias

Point: TypeAlias = tuple[float, float]  # seconds, bytes since the start


class Gap(NamedTuple):
    """At ``time`` the string is between ``low`` and ``high``."""

    time: float
    low: float
    high: float


def taut_string(gaps: Iterable[Gap]) -> list[Point]:
    """The corners of the shortest way from (0, 0) through ``gaps``, in order of time.

    Every other way through them has a stretch at least as steep as its steepest. The
    times grow and are above 0; the last gap is one point. O(n): each wall is kept as
    the string that is pulled against it alone, and a point joins and leaves that once.
    """
    corners: list[Point] = [(0.0, 0.0)]
    # both begin at the last corner
    low = deque(corners)
    high = deque(corners)
    for time, bottom, top in gaps:
        _pull(high, low, (time, top), lt, corners)
        _pull(low, high, (time, bottom), gt, corners)
    corners.extend(list(low)[1:])
    return corners


def slope(start: Point, end: Point) -> float:
    return (end[1] - start[1]) / (end[0] - start[0])


def peak(corners: list[Point]) -> float:
    """The steepest stretch, in bytes per second; 0 without any."""
    return max((slope(start, end) for start, end in pairwise(corners)), default=0.0)


def _pull(
    wall: deque[Point],
    other: deque[Point],
    point: Point,
    outside: Callable[[float, float], bool],
    corners: list[Point],
) -> None:
    """Adds ``point`` to ``wall``. The string touches ``other`` where the point can be
    seen from the last corner no longer."""
    while len(wall) > 1 and not outside(
        slope(wall[-2], wall[-1]), slope(wall[-1], point)
    ):
        wall.pop()
    if len(wall) == 1:
        while len(other) > 1 and outside(
            slope(wall[0], point), slope(other[0], other[1])
        ):
            other.popleft()
            wall[0] = other[0]
            corners.append(other[0])
    wall.append(point)
