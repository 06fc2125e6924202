"""A real pegasus-plan on a tier with a staging service: transfers are local jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stager.conftest import daemon
from tests.support.real_pegasus import MARKS, WorkflowRunner
from tests.support.stager import Daemon

__all__ = ["daemon"]
pytestmark = MARKS
OURS = ("stage_in", "stage_out", "create_dir", "clean_up", "cleanup")


@pytest.mark.parametrize("mode", ["persistent", "transient", "hybrid"])
def test_the_service_moves_the_files(tmp_path: Path, daemon: Daemon, mode: str) -> None:
    runner = WorkflowRunner(tmp_path, service=str(daemon.sockets))
    submit = runner.plan(mode)
    jobs = [f for f in submit.glob("00/00/*.sub") if f.name.startswith(OURS)]
    assert jobs
    for job in jobs:
        text = job.read_text()
        assert "universe = local" in text
        assert f"{submit}/bb/bin/transfer" in text
    client = daemon.start()
    assert runner.run() == "hello\n"
    moved = {Path(task["dest"].partition("://")[2]).name for task in client.status()}
    assert moved >= {"in.txt", "out.txt"}
    assert runner.standing == []
