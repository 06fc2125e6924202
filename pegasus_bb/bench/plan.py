"""What is measured: cells, each one way to write and read blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from pegasus_bb.errors import UsageError
from pegasus_bb.units import GIB, KIB, MIB, format_size

PAGE = 4 * KIB  # direct I/O takes whole ones only


class Mode(Enum):
    """What stands between a process and the storage."""

    FSYNC = "fsync"  # through the page cache, and on the storage before it counts
    DIRECT = "direct"  # O_DIRECT: past the page cache
    BUFFERED = "buffered"  # through the page cache, which may still hold it at the end


class Layout(Enum):
    """Whose file it is."""

    FILES = "file-per-process"
    SHARED = "shared-file"  # each process has a part of its own


@dataclass(frozen=True, slots=True)
class Cell:
    """One way to write and read. Bytes."""

    mode: Mode
    layout: Layout
    block: int  # of each process
    processes: int
    transfer: int  # of each call

    @property
    def total(self) -> int:
        """Bytes of all processes."""
        return self.block * self.processes

    def path(self, folder: str, number: int) -> str:
        """The file of process ``number``, named as ior names them."""
        shared = self.layout is Layout.SHARED
        return f"{folder}/data" if shared else f"{folder}/data.{number:08}"

    def offset(self, number: int) -> int:
        """Where in its file process ``number`` begins."""
        return self.block * number if self.layout is Layout.SHARED else 0

    def __str__(self) -> str:
        """For a person."""
        who = f"{self.processes} x {format_size(self.block)}"
        return f"{self.mode.value}, {self.layout.value}, {who}"


@dataclass(frozen=True, slots=True)
class Plan:
    """All cells of a tier, as products of these. Bytes."""

    blocks: tuple[int, ...]
    processes: tuple[int, ...]
    modes: tuple[Mode, ...] = tuple(Mode)
    layouts: tuple[Layout, ...] = tuple(Layout)
    transfer: int = MIB

    def __post_init__(self) -> None:
        """Raises UsageError."""
        if not all(block > 0 and block % PAGE == 0 for block in self.blocks):
            raise UsageError("--blocks: whole multiples of 4KiB, such as 64MiB,1GiB")
        if self.transfer <= 0 or self.transfer % PAGE:
            raise UsageError("--transfer: a whole multiple of 4KiB, such as 1MiB")
        if not all(0 < count <= 4096 for count in self.processes):
            raise UsageError("--processes: from 1 to 4096, such as 1,4,8")

    def cells(self) -> Iterator[Cell]:
        """What matters most first: where the time ends, the rest is left out."""
        for mode in self.modes:
            for block in self.blocks:
                for count in self.processes:
                    for layout in self.layouts:
                        transfer = min(self.transfer, block)
                        yield Cell(mode, layout, block, count, transfer)

    @property
    def most(self) -> int:
        """Bytes of the largest cell: what is on the tier at once."""
        return max(self.blocks) * max(self.processes)


# The paper's blocks and processes, and one process: what a job gets that is alone.
FULL = Plan(
    blocks=(64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB, GIB),
    processes=(1, 4, 8, 16, 32, 64, 128),
)
QUICK = Plan(blocks=(64 * MIB,), processes=(1, 4))


def smaller(plan: Plan, room: int) -> str:
    """What to say for a plan that is at no time larger than ``room`` bytes."""
    counts = [count for count in plan.processes if count * max(plan.blocks) <= room]
    blocks = [size for size in plan.blocks if size * max(plan.processes) <= room]
    words = []
    if counts:
        words.append("--processes " + ",".join(map(str, counts)))
    if blocks:
        words.append("--blocks " + ",".join(map(short, blocks)))
    if not words and QUICK.most <= room:
        words.append("--quick")
    return ", or ".join([*words, "a folder with more room"])


def short(size: int) -> str:
    """``size`` as an option takes it."""
    for unit, factor in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)
