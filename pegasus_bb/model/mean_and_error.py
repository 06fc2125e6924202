"""A quantity over repetitions: its mean and error, and a pair of these for two
sides."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
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
NORMAL_90 = 1.64485


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


ALIKE = 0.05  # of a makespan: a simulation is no better than that


@dataclass(frozen=True, slots=True)
class Pair:
    """One quantity on the PFS and on the burst buffer; None: not measured there."""

    pfs: Stat | None
    bb: Stat | None

    @property
    def larger(self) -> float:
        """The larger mean; 0 if no side is known."""
        return max((side.mean for side in (self.pfs, self.bb) if side), default=0.0)

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
    def is_alike(self) -> bool:
        """Whether a simulation cannot tell the sides apart."""
        ratio = self.ratio
        return bool(ratio and max(ratio, 1 / ratio) <= 1 + ALIKE)

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
        return student(freedom) * self.difference_error

    @property
    def is_fine(self) -> bool:
        """Whether two decimals of the ratio would hide a difference beyond the
        error."""
        return bool(self.beyond_error and self.ratio and round(self.ratio, 2) == 1)


def student(freedom: float) -> float:
    """Return Student's t for 95 %: between the rows of the table linear in 1 / freedom,
    beyond them by its expansion (Fisher 1925)."""
    if freedom > len(_T):
        z = _NORMAL
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        return z + first / freedom + second / freedom**2
    row = max(1, min(int(freedom), len(_T) - 1))
    part = (1 / row - 1 / freedom) / (1 / row - 1 / (row + 1))
    return _T[row - 1] + part * (_T[row] - _T[row - 1])


def student_90(freedom: float) -> float:
    """Return Student's t for 90 % on both sides, of two degrees of freedom or more, by
    its expansion (Abramowitz and Stegun 26.7.5)."""
    z = NORMAL_90
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


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


def log_deviation(groups: Iterable[Iterable[float]]) -> float | None:
    """The standard deviation of ln(value) within ``groups``, pooled over them; values
    that are not above zero count for nothing. None if no group has two."""
    squares, free = log_squares(groups)
    return math.sqrt(squares / free) if free else None


def log_squares(groups: Iterable[Iterable[float]]) -> tuple[float, int]:
    """The squared deviations of ln(value) from the means of their groups, added up, and
    how many of them are free."""
    squares = 0.0
    free = 0
    for group in groups:
        logs = [math.log(value) for value in group if value > 0]
        if len(logs) > 1:
            mean = statistics.fmean(logs)
            squares += sum((log - mean) ** 2 for log in logs)
            free += len(logs) - 1
    return squares, free


def total(values: Iterable[float | None]) -> float | None:
    """The sum; None if any part is unknown, or there is none."""
    found = list(values)
    known = [value for value in found if value is not None]
    return math.fsum(known) if known and len(known) == len(found) else None


def total_size(sizes: Iterable[int | None]) -> int | None:
    """``total`` of bytes."""
    whole = total(sizes)
    return None if whole is None else int(whole)
