"""pegasus-bb ls: what is held, by whom, and what can be said about it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from click import Command
from click.testing import CliRunner

from pegasus_bb.cli.gc import command as gc_command
from pegasus_bb.cli.ls import command
from pegasus_bb.core import ledger
from pegasus_bb.run.engine.processes import Processes
from tests.run.engine.dagman.conftest import tools
from tests.run.inventory.conftest import OneRun, Runs

__all__ = ["tools"]


@pytest.fixture(autouse=True)
def collecting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gc.disable", lambda: None)


def listed(*options: str) -> str:
    done = CliRunner().invoke(command, list(options), catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize(
    ("status", "doing"),
    [(0, "ended ok"), (130, "stopped")],
)
def test_a_run_that_has_ended(run: OneRun, status: int, doing: str) -> None:
    run.ends(status)
    found = run.held()
    assert (found.run, found.state, found.label) == (doing, "ready", "l-pbbone")
    assert (found.site, found.tier, found.size) == ("cori", "bb", 100 << 20)
    resume = f"pegasus-bb run {run.submit}"
    if status:
        assert found.next == (resume, "pegasus-bb release pbbone")
    else:  # its result is saved nowhere
        assert found.next == ("pegasus-bb release pbbone --discard",)


def test_a_task_that_outlives_its_killed_engine_is_the_run(run: OneRun) -> None:
    journal = Processes(Path(run.bb.file("engine.jsonl")))
    journal.starting("mark-of-a-task")
    environ = {**os.environ, Processes.VARIABLE: "mark-of-a-task"}
    task = subprocess.Popen(["sleep", "60"], env=environ)
    its_own = Path(f"/proc/{task.pid}/environ")
    try:
        while b"mark-of-a-task" not in its_own.read_bytes():  # exec is under way
            time.sleep(0.001)
        found = run.held()
        assert (found.run, str(task.pid) in found.run_words) == ("running", True)
    finally:
        task.kill()
        task.wait()
    assert run.held().run == "dead: no engine works on it"


@pytest.mark.parametrize("odd", [{"submit_dir": "/home/caf\udce9/run"}, {"size": 1e30}])
@pytest.mark.parametrize("asked", [command, gc_command])
def test_any_line_as_json(run: OneRun, asked: Command, odd: dict[str, Any]) -> None:
    """A path that is no UTF-8, or a size that is no size, hides no other run."""
    ledger.note("requested", name="odd", uuid="u", backend="directory", **odd)
    done = CliRunner().invoke(asked, ["--json"], catch_exceptions=False)
    assert len(json.loads(done.stdout)) == 2
    assert run.request.name in done.stdout


def test_a_tier_that_is_away_is_unknown_never_gone(run: OneRun) -> None:
    run.tier_of_all.rename(run.root / "unmounted")
    for _ in range(2):
        found = run.held()
        assert (found.state, "is it mounted" in found.message) == ("unknown", True)
        assert not any("release" in step for step in found.next), "it would be refused"
        run.tier_of_all.mkdir(exist_ok=True)  # the empty place of the mount
    shutil.rmtree(run.submit)
    assert run.held().state == "unknown"


def test_a_name_cannot_speak_to_the_terminal(runs: Runs) -> None:
    name = "pbb\x1b[2J\n\u202e"
    runs.note(name=name, uuid="1", backend="directory", size=5, label="\x1b]0;x\x07")
    assert not set(listed()) & set("\x1b\x07\u202e")
    assert json.loads(listed("--json"))[0]["name"] == name
