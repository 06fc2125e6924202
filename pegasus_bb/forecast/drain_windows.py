"""When each dump drains, so that the target takes all of them as evenly as it can."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from pegasus_bb.forecast.taut_string import Gap, Point, taut_string


class Window(NamedTuple):
    """Of one dump, in seconds: it drains from ``begin`` to ``end`` at one rate."""

    made: float
    begin: float
    end: float


def windows(dumps: Sequence[tuple[float, int]], due: float) -> list[Window]:
    """Of dumps (seconds when made, bytes) that all have to be drained by ``due``.

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
    """The taut string of ``dumps``, which are in the order of their times."""
    gaps: list[Gap] = []
    made = 0
    for time, size in dumps:
        if time > 0 and (not gaps or time > gaps[-1].time):
            gaps.append(Gap(time, 0, made))
        made += size
    return taut_string([*gaps, Gap(due, made, made)])


def _first_at(string: Sequence[Point], size: float) -> float:
    """When the string reaches ``size`` bytes."""
    place = bisect_left(string, size, key=lambda point: point[1])
    return _between(string, place, size)


def _last_at(string: Sequence[Point], size: float) -> float:
    """When the string leaves ``size`` bytes."""
    place = bisect_right(string, size, key=lambda point: point[1])
    return _between(string, place, size)


def _between(string: Sequence[Point], place: int, size: float) -> float:
    if place == 0 or place == len(string):
        return string[min(place, len(string) - 1)][0]
    (since, low), (until, high) = string[place - 1], string[place]
    return since + (until - since) * (size - low) / (high - low)
