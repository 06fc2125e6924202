"""Who measures: ior where it is installed and runs, else our own; and why."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.bench.choice import Chosen, choose, launcher
from pegasus_bb.errors import NotMeasured, UsageError

from .conftest import FakeIor

LONG = 3600.0


@pytest.fixture
def bin_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All of PATH."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    """What is tried there leaves nothing there."""
    (tmp_path / "tier").mkdir()
    yield str(tmp_path / "tier")
    assert list((tmp_path / "tier").iterdir()) == []


def choice(wanted: str, launch: tuple[str, ...], folder: str) -> Chosen:
    chosen = choose(wanted, launch, 1, folder, time.monotonic() + LONG)
    chosen.engine.close()
    return chosen


def test_one_that_hangs_leaves_time_for_ours(ior: FakeIor, folder: str) -> None:
    ior.instead("exec sleep 100")
    chosen = choose("auto", ior.launch, 1, folder, time.monotonic() + 1.5)
    chosen.engine.close()
    assert chosen.name == "own"
    assert "no end of a trial within " in chosen.because


def program(bin_: Path, name: str) -> None:
    (bin_ / name).write_text("#!/bin/sh\nexit 3\n")
    (bin_ / name).chmod(0o755)


def test_without_ior_we_do_it(bin_: Path, folder: str) -> None:
    chosen = choice("auto", ("mpiexec", "-n", "{n}"), folder)
    assert (chosen.name, chosen.because) == ("own", "no ior on PATH")


def test_ior_needs_mpi(bin_: Path, folder: str) -> None:
    program(bin_, "ior")
    chosen = choice("auto", launcher(None, {}), folder)
    assert chosen.name == "own"
    assert "no srun, mpiexec or mpirun" in chosen.because
    with pytest.raises(UsageError, match="--engine own needs neither"):
        choice("ior", (), folder)


def test_an_ior_that_does_not_run_is_not_used(bin_: Path, folder: str) -> None:
    program(bin_, "ior")
    program(bin_, "mpiexec")
    launch = launcher(None, {})
    assert launch == ("mpiexec", "-n", "{n}")
    chosen = choice("auto", launch, folder)
    assert chosen.name == "own"
    assert "ior does not run here: ior ended with status 3" in chosen.because
    with pytest.raises(NotMeasured, match="status 3"):
        choice("ior", launch, folder)


def test_one_that_runs_is_used(ior: FakeIor, folder: str) -> None:
    chosen = choice("auto", ior.launch, folder)
    assert chosen.name == "ior 4.1.0+dev"
    assert chosen.because == str(ior.program)


def test_who_wants_our_own_gets_it(ior: FakeIor, folder: str) -> None:
    assert choice("own", ior.launch, folder).name == "own"
    assert ior.calls() == []


def test_in_a_job_of_slurms_processes_go_to_its_nodes(bin_: Path) -> None:
    program(bin_, "mpirun")
    assert launcher(None, {"SLURM_JOB_ID": "7"}) == ("mpirun", "-n", "{n}")
    program(bin_, "srun")
    assert launcher(None, {"SLURM_JOB_ID": "7"}) == ("srun", "-n", "{n}")
    assert launcher(None, {}) == ("mpirun", "-n", "{n}")


@pytest.mark.parametrize("text", ["mpirun -np 4", "mpirun '-np {n}", ""])
def test_a_launcher_says_where_the_number_goes(text: str) -> None:
    assert launcher("mpirun -np {n} -x 'A B'", {})[-1] == "A B"
    with pytest.raises(UsageError, match="--launcher"):
        launcher(text, {})
