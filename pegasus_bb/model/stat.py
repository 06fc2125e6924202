"""A quantity over repetitions: its mean and error, and a pair of these for two
sides."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stat:
    mean: float
    error: float | None  # standard error of the mean; None for one repetition
    n: int  # repetitions with a value

    @property
    def share(self) -> float | None:
        """The error relative to the mean; None if the error is unknown or the mean is
        0."""
        return None if self.error is None or not self.mean else self.error / self.mean


@dataclass(frozen=True, slots=True)
class Pair:
    """One quantity on the PFS and on the burst buffer; None: not measured there."""

    pfs: Stat | None
    bb: Stat | None

    @property
    def ratio(self) -> float | None:
        """PFS to burst buffer; None if a side is unknown or 0."""
        if self.pfs is None or self.bb is None:
            return None
        if not self.pfs.mean or not self.bb.mean:
            return None
        return self.pfs.mean / self.bb.mean

    @property
    def beyond_error(self) -> bool | None:
        """Whether the sides differ by more than twice the error of the difference.

        None if a side has one repetition: its scatter is unknown.
        """
        difference, error = self.difference, self.difference_error
        if difference is None or error is None:
            return None
        return abs(difference) > 2 * error

    @property
    def difference(self) -> float | None:
        """Burst buffer less PFS; None if a side is unknown."""
        if self.pfs is None or self.bb is None:
            return None
        return self.bb.mean - self.pfs.mean

    @property
    def difference_error(self) -> float | None:
        """Its standard error; None if a side has one repetition."""
        if self.pfs is None or self.bb is None:
            return None
        if self.pfs.error is None or self.bb.error is None:
            return None
        return math.hypot(self.pfs.error, self.bb.error)

    @property
    def is_fine(self) -> bool:
        """Whether two decimals of the ratio would hide a difference beyond the
        error."""
        return bool(self.beyond_error and self.ratio and round(self.ratio, 2) == 1)


def stat(values: Iterable[float | None]) -> Stat | None:
    """Mean and standard error of the known values; None without any."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    if len(known) == 1:
        return Stat(float(known[0]), None, 1)
    n, mean = len(known), statistics.fmean(known)
    # Not statistics.stdev: it computes in fractions, too slow for 100,000 values.
    squares = math.fsum((value - mean) ** 2 for value in known)
    return Stat(mean, math.sqrt(squares / (n - 1) / n), n)


def total(values: Iterable[float | None]) -> float | None:
    """The sum; None if any part is unknown, or there is none."""
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return math.fsum(known) if known else None
