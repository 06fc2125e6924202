"""The choice of the engine: ior if it is installed and runs, else our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.report.bench.session import Engine, choose, launcher


@pytest.fixture
def bin_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    """A trial leaves nothing there."""
    (tmp_path / "tier").mkdir()
    yield str(tmp_path / "tier")
    assert list((tmp_path / "tier").iterdir()) == []


def choice(folder: str) -> Engine:
    chosen = choose(1, folder)
    chosen.close()
    return chosen


def program(bin_: Path, name: str) -> None:
    (bin_ / name).write_text("#!/bin/sh\nexit 3\n")
    (bin_ / name).chmod(0o755)


@pytest.mark.parametrize(
    ("programs", "because"),
    [
        ([], "no ior on PATH"),
        (["ior"], "no srun, mpiexec or mpirun"),
        (["ior", "mpiexec"], "ior does not run here: ior ended with status 3"),
    ],
)
def test_without_an_ior_that_runs_our_own_engine_measures(
    bin_: Path, folder: str, programs: list[str], because: str
) -> None:
    for name in programs:
        program(bin_, name)
    chosen = choice(folder)
    assert chosen.name == "own"
    assert because in chosen.because


def test_in_a_slurm_job_srun_starts_the_processes(
    bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    program(bin_, "mpirun")
    assert launcher() == ("mpirun", "-n", "{n}")
    program(bin_, "srun")
    assert launcher() == ("srun", "-n", "{n}")
    monkeypatch.delenv("SLURM_JOB_ID")
    assert launcher() == ("mpirun", "-n", "{n}")
