"""What is measured: cells, each a block size and a number of processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pegasus_bb.errors import UsageError
from pegasus_bb.units import MIB, format_size


@dataclass(frozen=True, slots=True)
class Cell:
    """Each process writes, and then reads, a block into a file of its own."""

    block: int  # bytes of each process
    processes: int

    @property
    def transfer(self) -> int:
        """Bytes of each call."""
        return min(MIB, self.block)

    @property
    def total(self) -> int:
        """Bytes of all processes."""
        return self.block * self.processes

    def path(self, folder: str, number: int) -> str:
        """The file of process ``number``, named as ior names it."""
        return f"{folder}/data.{number:08}"

    def __str__(self) -> str:
        return f"{self.processes} x {format_size(self.block)}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Every block size with every number of processes."""

    blocks: tuple[int, ...] = (64 * MIB,)
    processes: tuple[int, ...] = (1, 4)

    def __post_init__(self) -> None:
        """Raises UsageError."""
        if not all(size > 0 and size % min(size, MIB) == 0 for size in self.blocks):
            raise UsageError(
                "--blocks: less than 1MiB, or whole multiples of it, such as 64MiB,1GiB"
            )
        if not all(0 < count <= 4096 for count in self.processes):
            raise UsageError("--processes: from 1 to 4096, such as 1,4,8")

    def cells(self) -> Iterator[Cell]:
        """Small cells first: if the time is up, the others are left out."""
        for block in self.blocks:
            for count in self.processes:
                yield Cell(block, count)

    @property
    def largest(self) -> Cell:
        """The cell that needs most room."""
        return Cell(max(self.blocks), max(self.processes))
