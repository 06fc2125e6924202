"""A cell of a tier, and what every repetition of it said."""

from __future__ import annotations

from dataclasses import dataclass, field

from pegasus_bb.bench.cache import Cache, worse
from pegasus_bb.bench.place import Place
from pegasus_bb.bench.plan import Cell
from pegasus_bb.model.stat import Stat, stat


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop."""

    error: float = 0.05  # standard error as a part of the mean
    most: int = 20  # repetitions of a cell
    least: int = 3  # two that agree may do so by chance
    until: float = float("inf")  # time.monotonic(): begin nothing that ends later
    grace: float = 0.0  # seconds after that in which a phase may still end


@dataclass(slots=True)
class Measuring:
    """One cell on one tier. Bandwidths in bytes per second."""

    place: Place
    cell: Cell
    writes: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    cache: Cache = Cache.PAST
    seconds: float = 0.0  # that the last repetition took, with all around it

    def add(self, write: float, read: float, cache: Cache, seconds: float) -> None:
        """One repetition: ``write`` and ``read`` in seconds."""
        self.writes.append(self.cell.total / write)
        self.reads.append(self.cell.total / read)
        self.cache = worse(self.cache, cache)
        self.seconds = seconds

    @property
    def write(self) -> Stat | None:
        """None where nothing was measured."""
        return stat(self.writes)

    @property
    def read(self) -> Stat | None:
        """None where nothing was measured."""
        return stat(self.reads)

    def settled(self, limits: Limits) -> bool:
        """Whether no more repetitions are wanted."""
        done = len(self.writes)
        if done < min(limits.least, limits.most):
            return False
        return done >= limits.most or self.sure(limits)

    def sure(self, limits: Limits) -> bool:
        """Whether the errors of both are as small as they have to be."""
        return certain(self.write, limits) and certain(self.read, limits)


def certain(value: Stat | None, limits: Limits) -> bool:
    """Whether enough repetitions agree enough."""
    if value is None or value.n < limits.least or value.share is None:
        return False
    return value.share <= limits.error
