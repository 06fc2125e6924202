"""A cell of a tier, and the bandwidth of every repetition."""

from __future__ import annotations

from dataclasses import dataclass, field

from pegasus_bb.bench.cache import Cache, worse
from pegasus_bb.bench.place import Place
from pegasus_bb.bench.plan import Cell
from pegasus_bb.model.stat import Stat, stat

ERROR = 0.05  # the standard error that is small enough, as a part of the mean
LEAST, MOST = 3, 20  # repetitions: two may agree by chance


@dataclass(slots=True)
class Measurement:
    """One cell on one tier. Bandwidths are in bytes per second."""

    place: Place
    cell: Cell
    writes: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    cache: Cache = Cache.DROPPED
    seconds: float = 0.0  # of the last repetition, as a whole

    def add(self, write: float, read: float, cache: Cache, seconds: float) -> None:
        """Add a repetition; ``write`` and ``read`` are in seconds."""
        self.writes.append(self.cell.total / write)
        self.reads.append(self.cell.total / read)
        self.cache = worse(self.cache, cache)
        self.seconds = seconds

    @property
    def write(self) -> Stat | None:
        """None if nothing was measured."""
        return stat(self.writes)

    @property
    def read(self) -> Stat | None:
        """None if nothing was measured."""
        return stat(self.reads)

    @property
    def finished(self) -> bool:
        """True if no more repetitions are needed."""
        return len(self.writes) >= MOST or (certain(self.write) and certain(self.read))


def certain(value: Stat | None) -> bool:
    """True if enough repetitions agree well enough."""
    if value is None or value.n < LEAST or value.share is None:
        return False
    return value.share <= ERROR
