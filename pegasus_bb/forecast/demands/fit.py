"""Least squares of run times on several places: computing and operations of a task.

The assumption: seconds = compute + operations * (seconds of one operation there), both
at least zero, and both the same on every place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from pegasus_bb.forecast.demands.demand import Demand


class Point(NamedTuple):
    each: float  # seconds of one operation on the place
    seconds: float  # of the task, without its bytes


def fit(points: Sequence[Point]) -> Demand | None:
    """The demand that misses the points least. None if they are of one rate, or no
    demand is finite."""
    count = len(points)
    mean_x = sum(p.each for p in points) / count
    mean_y = sum(p.seconds for p in points) / count
    spread = sum((p.each - mean_x) ** 2 for p in points)
    if not spread:
        return None
    both = sum((p.each - mean_x) * (p.seconds - mean_y) for p in points)
    operations = both / spread
    compute = mean_y - operations * mean_x
    if operations < 0:
        operations = 0.0
        compute = mean_y
    elif compute < 0:
        square = sum(p.each**2 for p in points)
        operations = sum(p.each * p.seconds for p in points) / square
        compute = 0.0
    finite = math.isfinite(operations) and math.isfinite(compute)
    return Demand(compute, operations) if finite else None


def misses_by(demand: Demand, points: Sequence[Point]) -> float:
    """The largest error of a run time, as a part of it."""
    return max(
        abs(demand.compute + demand.operations * p.each - p.seconds)
        / max(p.seconds, 1e-9)
        for p in points
    )
