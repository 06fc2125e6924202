"""When each dump drains, so that the target takes all of them as evenly as it can."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import gt, lt
from typing import NamedTuple, TypeAlias

Point: TypeAlias = tuple[float, float]  # seconds, bytes since the start


class Gap(NamedTuple):
    """The string is between ``low`` and ``high`` at ``time``."""

    time: float
    low: float
    high: float


def taut_string(gaps: Iterable[Gap]) -> list[Point]:
    """Return the corners of the shortest way from (0, 0) through ``gaps``, in order of
    time.

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
    """Return the steepest stretch, in bytes per second; 0 without any."""
    return max((slope(start, end) for start, end in pairwise(corners)), default=0.0)


def _pull(
    wall: deque[Point],
    other: deque[Point],
    point: Point,
    outside: Callable[[float, float], bool],
    corners: list[Point],
) -> None:
    """Add ``point`` to ``wall``. The string touches ``other`` if the point can no
    longer be seen from the last corner."""
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


class Window(NamedTuple):
    """When one dump drains, in seconds: from ``begin`` to ``end`` at one rate."""

    made: float
    begin: float
    end: float


def windows(dumps: Sequence[tuple[float, int]], due: float) -> list[Window]:
    """Plan dumps (seconds when made, bytes) that all have to be drained by ``due``.

    One after the other, as they are made: each while the taut string between all that
    is made and all that is due passes its bytes. So no draining in time has a lower
    peak. A dump that is made when it is due has no time.
    """
    found = [Window(made, made, made) for made, _ in dumps]
    order = sorted(range(len(dumps)), key=lambda at: dumps[at][0])
    order = [at for at in order if dumps[at][0] < due and dumps[at][1]]
    string = evenest([dumps[at] for at in order], due)
    done = 0
    for at in order:
        made, size = dumps[at]
        begin = _last_at(string, done)
        end = _first_at(string, done + size)
        found[at] = Window(made, max(made, begin), max(made, end))
        done += size
    return found


def evenest(dumps: Sequence[tuple[float, int]], due: float) -> list[Point]:
    """Return the taut string of ``dumps``, which are in the order of their times."""
    gaps: list[Gap] = []
    made = 0
    for time, size in dumps:
        if time > 0 and (not gaps or time > gaps[-1].time):
            gaps.append(Gap(time, 0, made))
        made += size
    return taut_string([*gaps, Gap(due, made, made)])


def _first_at(string: Sequence[Point], size: float) -> float:
    """Return when the string reaches ``size`` bytes."""
    place = bisect_left(string, size, key=lambda point: point[1])
    return _between(string, place, size)


def _last_at(string: Sequence[Point], size: float) -> float:
    """Return when the string leaves ``size`` bytes."""
    place = bisect_right(string, size, key=lambda point: point[1])
    return _between(string, place, size)


def _between(string: Sequence[Point], place: int, size: float) -> float:
    if place == 0 or place == len(string):
        return string[min(place, len(string) - 1)][0]
    (since, low), (until, high) = string[place - 1], string[place]
    return since + (until - since) * (size - low) / (high - low)
