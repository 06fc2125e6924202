"""A quantity over repetitions: its mean and error, and a pair of these for two
sides."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

# Student's t, 97.5 %, for 1, 2, ... degrees of freedom.
_T = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_NORMAL = 1.96


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
    def is_measured(self) -> bool:
        """Whether a side is known and not 0."""
        return any(side and side.mean for side in (self.pfs, self.bb))

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
        """Whether the sides differ by more than ``least_difference``.

        None if a side has one repetition: its scatter is unknown.
        """
        difference = self.difference
        least = self.least_difference
        if difference is None or least is None:
            return None
        return abs(difference) > least

    @property
    def doubt(self) -> str:
        """The mark of its ratio: ``*`` within the error, ``?`` if that is unknown."""
        if self.ratio in (None, 1):
            return ""
        return {True: "", False: "*", None: "?"}[self.beyond_error]

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
    def least_difference(self) -> float | None:
        """What sides that are equal exceed in one of 20 comparisons: Welch's t-test,
        5 %. None if a side has one repetition."""
        if self.pfs is None or self.bb is None or self.difference_error is None:
            return None
        shares = [(side.error or 0.0) ** 2 for side in (self.pfs, self.bb)]
        if not sum(shares):
            return 0.0
        pairs = zip(shares, (self.pfs.n, self.bb.n), strict=True)
        freedom = sum(shares) ** 2 / sum(s * s / (n - 1) for s, n in pairs)
        return _student(freedom) * self.difference_error

    @property
    def is_fine(self) -> bool:
        """Whether two decimals of the ratio would hide a difference beyond the
        error."""
        return bool(self.beyond_error and self.ratio and round(self.ratio, 2) == 1)


def _student(freedom: float) -> float:
    """Student's t for a two-sided 5 %: to 1 % from two degrees of freedom on, too large
    below. It is nearly linear in 1 / freedom, between the table's rows and after."""
    row = max(1, min(int(freedom), len(_T) - 1))
    before = _T[row - 1]
    after = _T[row]
    part = (1 / row - 1 / freedom) / (1 / row - 1 / (row + 1))
    return max(_NORMAL, before + part * (after - before))


def stat(values: Iterable[float | None]) -> Stat | None:
    """Mean and standard error of the known values; None without any."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    if len(known) == 1:
        return Stat(float(known[0]), None, 1)
    n = len(known)
    mean = statistics.fmean(known)
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
