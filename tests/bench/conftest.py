"""A tier, an engine that plays one, and a clock that it moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pegasus_bb.bench.measurement import Measurement
from pegasus_bb.bench.place import Place
from pegasus_bb.bench.plan import Cell
from pegasus_bb.bench.rounds import Rounds
from pegasus_bb.units import KIB


def cell(processes: int = 2, block: int = 64 * KIB) -> Cell:
    return Cell(block, processes)


@dataclass
class Player:
    """An engine whose phases take as long as ``seconds`` says."""

    seconds: Callable[[Cell], float]
    name: str = "own"
    because: str = ""
    now: float = 0.0
    done: list[Cell] = field(default_factory=list)
    until: float = 0.0  # of the last phase

    def write(self, cell: Cell, folder: str, until: float) -> float:
        Path(folder, "data").write_bytes(b"x")
        self.done.append(cell)
        self.until = until
        return self._take(cell)

    def read(self, cell: Cell, folder: str, until: float) -> float:
        return self._take(cell)

    def close(self) -> None:
        pass

    def _take(self, cell: Cell) -> float:
        taken = self.seconds(cell)
        self.now += taken
        return taken


@dataclass
class Stage:
    """A tier called bb, with folders of its own."""

    path: Path

    def place(self, name: str = "bb") -> Place:
        (self.path / name).mkdir(exist_ok=True)
        return Place(name, str(self.path / name), "ext4", 1)

    def measurements(self, *cells: Cell, name: str = "bb") -> list[Measurement]:
        return [Measurement(self.place(name), cell) for cell in cells]

    def play(
        self,
        player: Player,
        measurements: list[Measurement],
        until: float = float("inf"),
    ) -> None:
        folders = {one.place.name: one.place.path for one in measurements}
        clock = lambda: player.now  # noqa: E731
        Rounds(player, folders, until, clock=clock).run(measurements)


IOR_OUTPUT = Path(__file__).parents[1] / "recorded" / "ior-4.1"
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
def stage(tmp_path: Path) -> Iterator[Stage]:
    """Nothing may be left of what was written."""
    made = Stage(tmp_path)
    yield made
    assert [path for path in tmp_path.rglob("*") if path.parent != tmp_path] == []
