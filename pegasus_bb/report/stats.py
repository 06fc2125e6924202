"""Means over repetitions, and a pair of them: PFS and burst buffer."""

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


@dataclass(frozen=True, slots=True)
class Pair:
    """One quantity on both sides; None where nobody measured it."""

    pfs: Stat | None
    bb: Stat | None

    @property
    def ratio(self) -> float | None:
        """PFS to BB; None where either is unknown or the BB's is zero."""
        if self.pfs is None or self.bb is None or self.bb.mean == 0:
            return None
        return self.pfs.mean / self.bb.mean

    @property
    def beyond_error(self) -> bool | None:
        """Whether the sides differ by more than twice the error of the difference.

        None where a side was run once: one run says nothing of the scatter.
        """
        if self.pfs is None or self.bb is None:
            return None
        if self.pfs.error is None or self.bb.error is None:
            return None
        difference = abs(self.pfs.mean - self.bb.mean)
        return difference > 2 * math.hypot(self.pfs.error, self.bb.error)


def stat(values: Iterable[float | None]) -> Stat | None:
    """Mean and standard error of the values that are known; None without any."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    error = None
    if len(known) > 1:
        error = statistics.stdev(known) / math.sqrt(len(known))
    return Stat(statistics.fmean(known), error, len(known))


def total(values: Iterable[float | None]) -> float | None:
    """The sum, or None where a part of it is unknown or there is no part."""
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return math.fsum(known) if known else None
