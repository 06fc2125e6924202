"""setup, gate and delete on a Slurm with the datawarp plugin (four executables)."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.run.engine.node_progress import Lines
from tests.support.datawarp_bench import answer_as_slurm
from tests.support.fakeslurm.fakeslurm import FRESH
from tests.support.run_programs import Run


class SlurmRun(Run):
    def slurm(self, **values: Any) -> Any:
        file = self.root / "slurm.json"
        state = {**json.loads(file.read_text()), **values}
        file.write_text(json.dumps(state))
        return state


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ledger: Path) -> SlurmRun:
    answer_as_slurm(tmp_path, monkeypatch)
    (tmp_path / "slurm.json").write_text(json.dumps(FRESH))
    found = SlurmRun(tmp_path)
    found.request = found.request._replace(
        backend="datawarp",
        settings={"poll": "0", "timeout": "0", "mount": "any"},
    )
    found.change()
    return found


def test_a_run_says_what_its_gate_waits_for_and_once_while_that_stays(
    run: SlurmRun,
) -> None:
    filler = {"name": "filler", "uid": 1, "created": 0}
    run.slurm(total=1000, buffers=[{**filler, "size": 950}])
    run.setup()
    out = io.StringIO()
    lines = Lines(out, run.submit)
    for free in (50, 50, 60):
        run.slurm(buffers=[{**filler, "size": 1000 - free}])
        assert run.gate() == 75
        lines.waiting("create_dir")
    waits = "create_dir waits for the burst buffer: job 1 that asks for pbb4f1c2a9e is "
    waits += (
        "PENDING: BurstBufferResources, waits for 100.0 MiB; {} MiB free in wlm_pool"
    )
    assert out.getvalue().splitlines() == [waits.format(50.0), waits.format(60.0)]


def test_a_rescue_run_finds_its_own_though_slurm_forgot_the_job(run: SlurmRun) -> None:
    run.setup()
    run.gate()
    run.slurm(jobs=[])
    assert run.setup() == 0
    assert run.slurm()["jobs"] == []
    assert run.gate() == 0
