"""How fast a target takes a segment of so many stripes (Tang et al. 2017, section IV).

simulation/draining/equations.py has the same equations for provisioning; it needs a
newer Python than compute nodes have. A test holds the two together.
"""

from __future__ import annotations

import math
from typing import Any, Mapping, NamedTuple, Optional

GB = 1e9  # bytes
LOWER, UPPER = 12, 1536  # stripes of a segment


class Curve(NamedTuple):
    """``a`` and ``b`` in GB/s, as in Table II; ``stripe`` in bytes."""

    a: float
    b: float
    n_ost: int
    stripe: int
    positioning: float = 0.0  # seconds before a segment
    upper: int = UPPER  # stripes; more make it no faster

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Curve:
        """Raises TypeError."""
        return cls(**data)

    def bandwidth(self, n_io: int) -> float:
        """Eq. 4: bytes per second of one segment."""
        return (self.a * math.log(n_io / self.n_ost) + self.b) * GB

    def seconds(self, size: float) -> float:
        """Eq. 5, and the positioning: seconds that ``size`` bytes take the target."""
        stripes = min(max(round(size / self.stripe), LOWER), self.upper)
        return size / self.bandwidth(stripes) + self.positioning

    def least(self, load: float) -> Optional[int]:
        """Eq. 8: the least stripes of a segment that serve ``load`` bytes per second;
        None: the target is overloaded."""
        sizes = range(LOWER, self.upper + 1)
        return next((n_io for n_io in sizes if self._serves(n_io, load)), None)

    def _serves(self, n_io: int, load: float) -> bool:
        per_byte = 1 / self.bandwidth(n_io) + self.positioning / (n_io * self.stripe)
        return load * per_byte <= 1
