"""A tier, and an engine that plays one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.core.units import KIB
from pegasus_bb.report.bench.cells import Cell
from pegasus_bb.report.bench.measured_tier import MeasuredFolder


def cell(processes: int = 2, block: int = 64 * KIB) -> Cell:
    return Cell(block, processes)


class PlayedEngine:
    """Plays the processes: each phase takes two seconds."""

    def __init__(self) -> None:
        self.done: list[Cell] = []

    def write(self, cell: Cell, folder: str) -> float:
        Path(folder, "data").write_bytes(b"x")
        self.done.append(cell)
        return 2.0

    def read(self, cell: Cell, folder: str) -> float:
        return 2.0

    def operate(self, processes: int, folder: str, seconds: float) -> float:
        return 1000.0 * processes

    def close(self) -> None:
        pass


@pytest.fixture
def tier_place(tmp_path: Path) -> Iterator[MeasuredFolder]:
    """A tier called bb; nothing may be left of what was written there."""
    (tmp_path / "bb").mkdir()
    yield MeasuredFolder("bb", str(tmp_path / "bb"), "ext4", 1)
    assert list((tmp_path / "bb").iterdir()) == []
