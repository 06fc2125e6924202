"""A tier, an engine that plays one, and a clock that it moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pegasus_bb.bench.measuring import Limits, Measuring
from pegasus_bb.bench.place import Place
from pegasus_bb.bench.plan import Cell, Layout, Mode
from pegasus_bb.bench.rounds import Rounds
from pegasus_bb.units import KIB


def cell(processes: int = 2, **other: object) -> Cell:
    return Cell(
        **{
            "mode": Mode.FSYNC,
            "layout": Layout.FILES,
            "block": 64 * KIB,
            "processes": processes,
            "transfer": 16 * KIB,
            **other,
        }
    )


@dataclass
class Player:
    """Takes as long as it is told: ``seconds`` has a function of the cell."""

    seconds: Callable[[Cell], float]
    now: float = 0.0
    done: list[Cell] = field(default_factory=list)
    until: float = 0.0  # as it was told last

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

    def measurings(self, *cells: Cell, name: str = "bb") -> list[Measuring]:
        return [Measuring(self.place(name), cell) for cell in cells]

    def play(self, player: Player, measurings: list[Measuring], limits: Limits) -> None:
        folders = {one.place.name: one.place.path for one in measurings}
        clock = lambda: player.now  # noqa: E731
        Rounds(player, folders, limits, clock=clock).run(measurings)


IOR_OUTPUT = Path(__file__).parents[1] / "recorded" / "ior-4.1"
_IOR = """\
for word; do case $word in
  summaryFile=*) summary=${word#summaryFile=};;
  -w) did=write;;
  -r) did=read;;
esac; done
"""


class FakeIor:
    """A script that plays ior. Another starts it, as MPI would, but once."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.program = folder / "ior"
        self._calls = folder / "calls"
        self._write("mpi", f'printf "%s\\n" "$*" >>{self._calls}\nshift 2\nexec "$@"')
        self.instead(f'{_IOR}cat {IOR_OUTPUT}/$did.json >"$summary"')
        self.launch = (str(folder / "mpi"), "-n", "{n}")

    def instead(self, text: str) -> None:
        """What it does from now on."""
        self._write("ior", text)

    def calls(self) -> list[list[str]]:
        """The words of each, without the program."""
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
