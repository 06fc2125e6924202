"""What a task asks of processors and storage, wherever its files are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# Why a demand is a range, for a person.
CALLS = "how much of the run times are calls to the storage"
GROWTH = "how much of the run times grows with the files"


class Moved(NamedTuple):
    """The bytes and files that a task reads and writes of the workflow's files."""

    read: int  # bytes
    written: int
    files: int


@dataclass(frozen=True, slots=True)
class Demand:
    """What one task asks for. Bytes of the workflow's files are not in it: the files
    have them."""

    compute: float  # seconds, the same on every place
    operations: float = 0.0  # calls that cost time on the place of the job's folder


@dataclass(frozen=True, slots=True)
class DemandRange:
    """Two demands that explain the same measurements. They are equal if it is known
    how much of the run time depends on the place."""

    pessimistic: Demand  # the least that a faster place makes shorter
    optimistic: Demand  # the most
    source: str = ""  # what it was learned from, for a person
    note: str = ""  # why a better source did not serve; empty if it did
    is_guess: bool = False  # nothing of it was measured: other sites' spread
    doubts: tuple[str, ...] = ()  # why it is a range, if not for its calls alone

    @property
    def middle(self) -> Demand:
        one, other = self.pessimistic, self.optimistic
        return Demand(
            (one.compute + other.compute) / 2, (one.operations + other.operations) / 2
        )

    @property
    def is_known(self) -> bool:
        return self.pessimistic == self.optimistic

    @property
    def causes(self) -> tuple[str, ...]:
        """Why it is a range; empty if it is none."""
        return () if self.is_known else self.doubts or (CALLS,)
