"""Means over seeds with their confidence, and differences over the same seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# Student's t for 95 % on both sides, 1 to 30 degrees of freedom.
_T = (
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
    2.228,
    2.201,
    2.179,
    2.160,
    2.145,
    2.131,
    2.120,
    2.110,
    2.101,
    2.093,
    2.086,
    2.080,
    2.074,
    2.069,
    2.064,
    2.060,
    2.056,
    2.052,
    2.048,
    2.045,
    2.042,
)
_NORMAL = 1.95996


@dataclass(frozen=True, slots=True)
class Estimate:
    """``half`` of the 95 % confidence interval lies on each side of the mean. It is
    None for one seed."""

    mean: float
    half: float | None
    n: int

    @property
    def told_apart(self) -> bool | None:
        """Whether a difference lies outside its interval, so that it is one."""
        return None if self.half is None else abs(self.mean) > self.half


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """None without any value."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    mean = statistics.fmean(known)
    n = len(known)
    if n == 1:
        return Estimate(mean, None, 1)
    squares = math.fsum((value - mean) ** 2 for value in known)
    return Estimate(mean, student(n - 1) * math.sqrt(squares / (n - 1) / n), n)


def difference(
    values: Sequence[float | None], base: Sequence[float | None]
) -> Estimate | None:
    """``values`` less ``base``, seed by seed: what the seeds have in common is gone."""
    pairs = zip(values, base, strict=True)
    return estimate(
        [None if one is None or zero is None else one - zero for one, zero in pairs]
    )


def student(freedom: int) -> float:
    """Student's t for 95 %; beyond the table by its expansion (Fisher 1925)."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    z = _NORMAL
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2
