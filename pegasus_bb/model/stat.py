"""A quantity over repetitions: its mean, and how much is known of it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stat:
    """A quantity over the repetitions that know it."""

    mean: float
    error: float | None  # standard error of the mean; None for one repetition
    n: int  # repetitions that know it

    @property
    def share(self) -> float | None:
        """The error as a part of the mean; None where either says nothing."""
        return None if self.error is None or not self.mean else self.error / self.mean


def stat(values: Iterable[float | None]) -> Stat | None:
    """Mean and standard error of the values that are known; None without any."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    if len(known) == 1:
        return Stat(float(known[0]), None, 1)
    n, mean = len(known), statistics.fmean(known)
    # Not statistics.stdev: it reckons in fractions, and there may be 100,000 of these.
    squares = math.fsum((value - mean) ** 2 for value in known)
    return Stat(mean, math.sqrt(squares / (n - 1) / n), n)
