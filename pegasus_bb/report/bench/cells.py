"""What is measured: cells, each a block size and a number of processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import MIB, format_size
from pegasus_bb.model.mean_and_error import Stat, stat

ERROR = 0.05  # the standard error that is small enough, as a part of the mean
LEAST = 3  # repetitions: two may agree by chance
_MOST_PROCESSES = 4096


@dataclass(frozen=True, slots=True)
class Cell:
    """Each process writes, and then reads, a block into a file of its own."""

    block: int  # bytes of each process
    processes: int

    @property
    def transfer(self) -> int:
        """The bytes of each call."""
        return min(MIB, self.block)

    @property
    def total(self) -> int:
        return self.block * self.processes

    def path(self, folder: str, number: int) -> str:
        return f"{folder}/data.{number:08}"

    def __str__(self) -> str:
        return f"{self.processes} x {format_size(self.block)}"


def all_cells(blocks: Iterable[int], processes: Iterable[int]) -> list[Cell]:
    """Combine every block size with every number of processes, small ones first.

    Raises UsageError.
    """
    blocks = sorted(set(blocks))
    processes = sorted(set(processes))
    if not all(size > 0 and size % min(size, MIB) == 0 for size in blocks):
        raise UsageError(
            "--blocks: less than 1MiB, or whole multiples of it, such as 64MiB,1GiB"
        )
    if not all(0 < count <= _MOST_PROCESSES for count in processes):
        raise UsageError(f"--processes: from 1 to {_MOST_PROCESSES}, such as 1,4,8")
    return [Cell(block, count) for block in blocks for count in processes]


@dataclass(slots=True)
class Measurement:
    cell: Cell
    writes: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    warm: bool = False  # reads may have come from the memory of this machine

    def add(self, write: float, read: float, *, warm: bool) -> None:
        """Add a repetition; ``write`` and ``read`` are in seconds."""
        self.writes.append(self.cell.total / write)
        self.reads.append(self.cell.total / read)
        self.warm = self.warm or warm

    @property
    def write(self) -> Stat | None:
        return stat(self.writes)

    @property
    def read(self) -> Stat | None:
        return stat(self.reads)


@dataclass(slots=True)
class Operations:
    """Operations on small files, whatever their bytes: a cycle is five of them (create
    a file, write 4 KiB, close it, ask for its state, remove it). Each process has a
    folder of its own."""

    processes: int
    rates: list[float] = field(default_factory=list)  # a second, of all processes

    @property
    def rate(self) -> Stat | None:
        return stat(self.rates)


def certain(value: Stat | None) -> bool:
    if value is None or value.n < LEAST or value.share is None:
        return False
    return value.share <= ERROR
