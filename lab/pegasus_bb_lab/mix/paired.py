"""Means over seeds with their confidence, and differences over the same seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pegasus_bb.model.mean_and_error import stat, student


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
    found = stat(values)
    if found is None:
        return None
    half = None if found.error is None else student(found.n - 1) * found.error
    return Estimate(found.mean, half, found.n)


def difference(
    values: Sequence[float | None], base: Sequence[float | None]
) -> Estimate | None:
    """``values`` less ``base``, seed by seed: what the seeds have in common is gone."""
    pairs = zip(values, base, strict=True)
    return estimate(
        [None if one is None or zero is None else one - zero for one, zero in pairs]
    )
