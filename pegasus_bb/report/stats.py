"""A pair of means over repetitions: PFS and burst buffer."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pegasus_bb.model.stat import Stat


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


def total(values: Iterable[float | None]) -> float | None:
    """The sum, or None where a part of it is unknown or there is no part."""
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return math.fsum(known) if known else None
