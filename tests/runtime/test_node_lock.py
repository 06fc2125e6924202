"""A node whose first job was called ended, and runs on, is not worked on twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import RunFailed, SchedulerUnreachable
from pegasus_bb.runtime.backends.scontrol import SpaceJob, parse_jobs
from pegasus_bb.runtime.backends.slurm import Slurm
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.node_lock import lock_node

RECORDED = Path(__file__).parents[1] / "recorded" / "slurm-24.11"
ENDED = (RECORDED / "show-job.use-completed.txt").read_text()
RUNS = (RECORDED / "show-job.jobdw-running.txt").read_text()
SILENT = ""


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Slurm says of the first job, one after the other."""
    found: list[str] = []

    def job(slurm: Slurm, number: str) -> SpaceJob:
        text = found.pop(0)
        if text == SILENT:
            raise SchedulerUnreachable("no answer")
        return parse_jobs(text)[0]

    monkeypatch.setattr(Slurm, "job", job)
    monkeypatch.setattr("shutil.which", lambda program: program)
    return found


@pytest.fixture
def note(tmp_path: Path) -> Path:
    (tmp_path / "running").mkdir()
    return tmp_path / "running" / "mix_A"


def lock(note: Path, number: str) -> None:
    environ = {"PEGASUS_DAG_JOB_ID": note.name, "SLURM_JOB_ID": number}
    lock_node(BBDir(str(note.parents[1])), environ, lambda seconds: None)


def test_a_second_one_waits_while_the_first_runs_or_slurm_is_silent(
    answers: list[str], note: Path
) -> None:
    note.write_text("40")
    answers += [RUNS, RUNS, SILENT, ENDED]
    lock(note, "41")
    assert (note.read_text(), answers) == ("41", [])


@pytest.mark.parametrize("old, new", [("40", "41"), ("67043327", "1")])
def test_what_a_killed_job_has_left_delays_no_job(
    answers: list[str], note: Path, old: str, new: str
) -> None:
    """Nor if Slurm counts anew."""
    note.write_text(old)
    answers.append(ENDED)
    lock(note, new)
    assert note.read_text() == new


def test_a_job_that_was_given_up_does_not_begin_after_a_later_one(note: Path) -> None:
    """blahp gave up on sbatch, which had submitted 41; released, it submitted 42."""
    note.write_text("42")
    with pytest.raises(RunFailed, match="Slurm job 42 of this node was submitted"):
        lock(note, "41")
    assert note.read_text() == "42"
