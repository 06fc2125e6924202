"""setup, gate and delete on a Slurm with the datawarp plugin (four executables)."""

from __future__ import annotations

import io
import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.run.engine.node_progress import Lines
from tests.support.fakeslurm.fakeslurm import FRESH
from tests.support.run_programs import NAME, Run, words

FAKE = Path(__file__).parents[1] / "support" / "fakeslurm"
Captured = pytest.CaptureFixture[str]


class SlurmRun(Run):
    def slurm(self, **values: Any) -> Any:
        file = self.root / "slurm.json"
        state = {**json.loads(file.read_text()), **values}
        file.write_text(json.dumps(state))
        return state


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlurmRun:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "ledger.jsonl"))
    monkeypatch.setenv("FAKE_SLURM", str(tmp_path / "slurm.json"))
    monkeypatch.setenv("PATH", f"{FAKE}:{os.environ['PATH']}")
    (tmp_path / "slurm.json").write_text(json.dumps(FRESH))
    found = SlurmRun(tmp_path)
    found.request = replace(
        found.request,
        backend="datawarp",
        settings={"poll": "0", "timeout": "0", "mount": "any"},
    )
    found.change()
    return found


def test_asked_for_ready_and_given_back(run: SlurmRun) -> None:
    run.slurm(passes=3)
    assert run.setup() == 0
    assert run.noted().job == "1"
    assert run.gate() == 75
    assert run.gate() == 0
    run.stage_out("one.txt")
    run.slurm(passes=0)
    assert run.delete() == 0
    assert run.slurm()["buffers"] == []
    lines = [job["line"] for job in run.slurm()["jobs"]]
    assert lines == [
        f"#BB create_persistent name={NAME} capacity=104857600 "
        "access_mode=striped type=scratch",
        f"#BB destroy_persistent name={NAME}",
    ]


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


def test_a_leftover_of_the_same_name_stops_setup_and_gate(
    run: SlurmRun, capsys: Captured
) -> None:
    old = {"name": NAME, "size": 700, "uid": os.getuid(), "created": time.time() - 9999}
    run.slurm(buffers=[old])
    assert run.setup() == 76
    assert "Slurm would silently use it again" in words(capsys)
    assert run.gate() == 76
    assert run.delete() == 76  # the other run's data is not ours to give back
    assert len(run.slurm()["buffers"]) == 1


def test_a_controller_that_is_down_is_waited_for(run: SlurmRun) -> None:
    run.setup()
    run.slurm(down=True)
    assert run.gate() == 75
    assert run.setup() == 78
    assert run.delete() == 78
    run.slurm(down=False)
    assert run.gate() == 0


@pytest.mark.parametrize("flags", ["EnablePersistent,PrivateData", "EnablePersistent"])
def test_bytes_that_were_never_its_own_do_not_keep_a_buffer_that_is_gone(
    run: SlurmRun, capsys: Captured, flags: str
) -> None:
    """Others' hidden buffers; a server that is down. Each counts as in use."""
    run.slurm(flags=flags, unseen=500)
    run.setup()
    assert run.gate() == 0
    run.slurm(buffers=[], jobs=[])
    assert run.gate() == 76
    assert "was up and is gone" in words(capsys)
    assert run.delete() == 0


def test_a_buffer_that_slurm_has_not_read_back_is_kept(
    run: SlurmRun, capsys: Captured
) -> None:
    run.setup()
    assert run.gate() == 0
    rows = run.slurm()["buffers"]
    run.slurm(buffers=[], jobs=[], unseen=100)
    assert run.gate() == 75
    assert run.setup() == 78
    assert run.delete() == 78
    assert "no row accounts for" in words(capsys)
    assert run.noted().released_at is None
    run.slurm(buffers=rows, unseen=0)
    assert run.gate() == 0
