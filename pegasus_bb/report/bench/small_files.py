"""How many operations on small files a tier does a second, whatever their bytes.

A cycle is five: create a file, write 4 KiB, close it, ask for its state, remove it.
Our own processes do it, on this machine, also where ior measures all else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from pegasus_bb.core.errors import NotMeasured
from pegasus_bb.core.removal import remove
from pegasus_bb.model.stat import Stat, stat
from pegasus_bb.report.bench.built_in_engine import BuiltInBenchmark
from pegasus_bb.report.bench.cells import Cell
from pegasus_bb.report.bench.measured_tier import MeasuredFolder

SECONDS = 0.2  # at least, of each repetition


@dataclass(slots=True)
class Operations:
    """Each process has a folder of its own."""

    processes: int
    rates: list[float] = field(default_factory=list)  # a second, of all processes

    @property
    def rate(self) -> Stat | None:
        return stat(self.rates)


def operations_of(cells: Iterable[Cell]) -> list[Operations]:
    """Of one process, and of as many as the largest of ``cells`` has."""
    most = max(cell.processes for cell in cells)
    return [Operations(count) for count in sorted({1, most})]


def repeat_operations(
    own: BuiltInBenchmark, place: MeasuredFolder, folder: str, one: Operations
) -> None:
    """Measure ``one`` once more, in a new folder in ``folder``. Raises NotMeasured."""
    files = os.path.join(folder, "files")
    try:
        os.mkdir(files)
        one.rates.append(own.operate(one.processes, files, SECONDS))
        remove(files)
    except (OSError, NotMeasured) as error:
        what = f"tier {place.name}, operations of {one.processes}"
        raise NotMeasured(f"{what}: {error}") from error
