"""How fast a target takes a segment of so many stripes (Tang et al. 2017, section IV):
what a transfer is paced by, and what is simulated."""

from __future__ import annotations

import math

from pegasus_bb.core.light_typing import NamedTuple

GB = 1e9  # bytes
# stripes of a segment
LOWER = 12
UPPER = 1536


class Curve(NamedTuple):
    """``a`` and ``b`` in GB/s, as in Table II; ``stripe`` in bytes."""

    a: float
    b: float
    n_ost: int
    stripe: int
    positioning: float = 0.0  # seconds before a segment
    upper: int = UPPER  # stripes; more make it no faster
    lower: int = LOWER
    plateau: float = math.inf  # GB/s that it never exceeds: Fig. 7

    def bandwidth(self, n_io: int) -> float:
        """Eq. 4: bytes per second of one segment."""
        fitted = self.a * math.log(n_io / self.n_ost) + self.b
        return min(fitted, self.plateau) * GB

    def seconds(self, size: float) -> float:
        """Eq. 5, and the positioning: seconds that ``size`` bytes take the target."""
        stripes = min(max(round(size / self.stripe), self.lower), self.upper)
        return size / self.bandwidth(stripes) + self.positioning

    def serves(self, n_io: int, load: float) -> bool:
        """Eq. 8: segments of ``n_io`` stripes serve ``load`` bytes per second. Both
        sides are multiplied with the load, which may be 0."""
        per_byte = 1 / self.bandwidth(n_io)
        per_byte += self.positioning / (n_io * self.stripe)
        return load * per_byte <= 1

    def least(self, load: float) -> int | None:
        """The fewest stripes for which eq. 8 holds; None if none does: an overload.

        The left side of eq. 8 falls as the stripes become more, so a bisection finds
        it.
        """
        if not self.serves(self.upper, load):
            return None
        too_few = self.lower - 1
        enough = self.upper
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self.serves(middle, load):
                enough = middle
            else:
                too_few = middle
        return enough
