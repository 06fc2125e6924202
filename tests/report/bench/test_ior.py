"""ior as an engine: how it is called, and how its output is read.

A script stands in for ior: it writes the recorded output of a real one
(tests/recorded/ior-4.1), and notes its arguments.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from pegasus_bb.core.errors import NotMeasured
from pegasus_bb.core.units import KIB, MIB
from pegasus_bb.report.bench import ior as module
from pegasus_bb.report.bench.cells import Cell
from pegasus_bb.report.bench.ior import Ior, bandwidth

from .conftest import IOR_OUTPUT, FakeIor, cell


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """As session.py makes it; the summary of ior lies beside it, and does not stay."""
    (tmp_path / "ours" / "data").mkdir(parents=True)
    yield str(tmp_path / "ours" / "data")
    assert [path.name for path in (tmp_path / "ours").iterdir()] == ["data"]


@pytest.mark.parametrize("do", ["write", "read"])
def test_the_bandwidth_is_that_of_the_phase(do: str) -> None:
    answer = json.loads((IOR_OUTPUT / f"{do}.json").read_text())
    results = answer["tests"][0]["Results"]
    assert [entry["access"] for entry in results] == [do]
    assert bandwidth(answer, do) == results[0]["bwMiB"] * MIB
    with pytest.raises(NotMeasured, match="no bandwidth of a "):
        bandwidth(answer, "read" if do == "write" else "write")


def words(ior: FakeIor, what: Cell, folder: str) -> tuple[list[str], list[str]]:
    engine = Ior(ior.launch)
    engine.write(what, folder)
    engine.read(what, folder)
    write, read = ior.calls()
    return write, read


def test_the_options_of_ior(ior: FakeIor, folder: str) -> None:
    write, read = words(ior, cell(3), folder)
    assert {"-w", "-e", "-F", "-k"} < set(write) and "-r" not in write
    assert {"-r", "-C", "-F", "-k"} < set(read) and not {"-w", "-e"} & set(read)
    for said in (write, read):
        assert said[:2] == ["-n", "3"]
        options = dict(pairwise(said))
        assert (options["-b"], options["-t"]) == (str(64 * KIB), str(64 * KIB))
        assert options["-o"] == f"{folder}/data"


def test_a_trial_that_takes_too_long_is_ended_with_its_children(
    ior: FakeIor, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_GRACE", 1.0)
    ior.instead(f"sleep 100 & echo $! >{tmp_path}/child; trap '' TERM; wait")
    with pytest.raises(NotMeasured, match="a trial did not end within 0 s"):
        Ior(ior.launch).trial(2, folder, limit=0.4)
    child = int((tmp_path / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"
    assert list(Path(folder).iterdir()) == []
