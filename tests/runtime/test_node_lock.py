"""A node whose first job was called ended, and runs on, is not worked on twice."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.core.errors import RunFailed
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.node_lock import lock_node

RECORDED = Path(__file__).parents[1] / "recorded" / "slurm-24.11"
ENDED = (RECORDED / "show-job.use-completed.txt").read_text()
RUNS = (RECORDED / "show-job.jobdw-running.txt").read_text()


class NodeLockFixture:
    def __init__(self, folder: Path) -> None:
        self.bb, self.folder = BBDir(str(folder / "bb")), folder
        self.asked = 0
        program = folder / "scontrol"
        program.write_text(
            f'#!/bin/sh\n. {folder}/answer\necho "$*" >> {folder}/calls\n'
        )
        program.chmod(0o755)
        self.answers: list[str] = []

    def note(self, job: str) -> None:
        file = Path(self.bb.file("running/mix_A"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(job)

    @property
    def noted(self) -> str:
        file = Path(self.bb.file("running/mix_A"))
        return file.read_text() if file.exists() else ""

    def next(self, _: float = 0.0) -> None:
        text = self.answers.pop(0)
        if text.startswith("exit"):
            said = f"echo Unable to contact slurm controller >&2; {text}\n"
        else:
            (self.folder / "text").write_text(text)
            said = f"cat {self.folder}/text\n"
        (self.folder / "answer").write_text(said)

    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def lock(self, number: str, pause: Callable[[float], None] | None = None) -> None:
        environ = {"PEGASUS_DAG_JOB_ID": "mix_A", "SLURM_JOB_ID": number}
        lock_node(self.bb, environ, pause or self.next)


@pytest.fixture
def fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NodeLockFixture:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return NodeLockFixture(tmp_path)


def test_a_second_one_waits_while_the_first_runs_or_slurm_is_silent(
    fixture: NodeLockFixture,
) -> None:
    fixture.note("40")
    fixture.answers = [RUNS, "exit 1", ENDED]
    fixture.next()
    fixture.lock("41")
    assert (fixture.noted, fixture.answers) == ("41", [])
    # Once before it says that it waits; an answer that did not come left no line.
    assert fixture.calls() == ["show job 40"] * 3


@pytest.mark.parametrize("old, new", [("40", "41"), ("67043327", "1")])
def test_what_a_killed_job_has_left_delays_no_job(
    fixture: NodeLockFixture, old: str, new: str
) -> None:
    """Nor if Slurm counts anew."""
    fixture.note(old)
    fixture.answers = [ENDED]
    fixture.next()
    fixture.lock(new)
    assert fixture.noted == new


@pytest.mark.parametrize("state", [RUNS, ENDED])
def test_a_job_that_was_given_up_does_not_begin_after_a_later_one(
    fixture: NodeLockFixture, state: str
) -> None:
    """blahp gave up on sbatch, which had submitted 41; released, it submitted 42."""
    fixture.note("42")
    fixture.answers = [state]
    fixture.next()
    with pytest.raises(RunFailed, match="Slurm job 42 of this node was submitted"):
        fixture.lock("41")
    assert fixture.noted == "42"
