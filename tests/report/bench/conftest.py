"""A tier, an engine that plays one, and a script in place of ior."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pegasus_bb.core.units import KIB
from pegasus_bb.report.bench.cells import Cell
from pegasus_bb.report.bench.measured_tier import MeasuredFolder


def cell(processes: int = 2, block: int = 64 * KIB) -> Cell:
    return Cell(block, processes)


@dataclass
class PlayedEngine:
    """Each phase takes as many seconds as ``seconds`` says."""

    seconds: Callable[[Cell], float]
    name: str = "own"
    because: str = ""
    done: list[Cell] = field(default_factory=list)

    def write(self, cell: Cell, folder: str) -> float:
        Path(folder, "data").write_bytes(b"x")
        self.done.append(cell)
        return self.seconds(cell)

    def read(self, cell: Cell, folder: str) -> float:
        return self.seconds(cell)

    def close(self) -> None:
        pass


IOR_OUTPUT = Path(__file__).parents[2] / "recorded" / "ior-4.1"
_IOR = """\
for word; do case $word in
  summaryFile=*) summary=${word#summaryFile=};;
  -w) did=write;;
  -r) did=read;;
esac; done
"""


class FakeIor:
    """A script in place of ior, and one in place of mpiexec, which starts it once."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.program = folder / "ior"
        self._calls = folder / "calls"
        self._write(
            "mpiexec", f'printf "%s\\n" "$*" >>{self._calls}\nshift 2\nexec "$@"'
        )
        self.instead(f'{_IOR}cat {IOR_OUTPUT}/$did.json >"$summary"')
        self.launch = ("mpiexec", "-n", "{n}")

    def instead(self, text: str) -> None:
        """Replace the script of ior."""
        self._write("ior", text)

    def calls(self) -> list[list[str]]:
        """The words of each call, without the program."""
        if not self._calls.exists():
            return []
        lines = self._calls.read_text().splitlines()
        return [[w for w in line.split() if w != "ior"] for line in lines]

    def _write(self, name: str, text: str) -> None:
        path = self.program.parent / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)


@pytest.fixture
def ior(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeIor:
    made = FakeIor(tmp_path / "ior")
    monkeypatch.setenv("PATH", f"{made.program.parent}:/usr/bin:/bin")
    return made


@pytest.fixture
def tier_place(tmp_path: Path) -> Iterator[MeasuredFolder]:
    """A tier called bb; nothing may be left of what was written there."""
    (tmp_path / "bb").mkdir()
    yield MeasuredFolder("bb", str(tmp_path / "bb"), "ext4", 1)
    assert list((tmp_path / "bb").iterdir()) == []
