"""Slurm's reason why a job does not begin reaches the person who waits."""

from __future__ import annotations

import time

import pytest

from pegasus_bb.cli.status import command as status_command
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.run.engine.dagman import job_waits as module
from pegasus_bb.run.engine.dagman.job_waits import QueueWatch, slurm_waits
from pegasus_bb.run.engine.run_status import run_status
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.run.engine.table import State, Table
from pegasus_bb.runtime.backends.squeue import FORMAT
from tests.run.engine.dagman.conftest import Tools, write_log

FIELDS = FORMAT.count(":0")
STUCK = "BadConstraints"


def squeue(tools: Tools, *jobs: tuple[int, str]) -> None:
    """Slurm's jobs by number and reason, as squeue prints them in our format."""
    rows = ""
    for number, reason in jobs:
        row = [str(number), "bl_1", "me", "1000", "PENDING", "7", "", "", reason, ""]
        assert len(row) == FIELDS
        rows += "\x1f".join([*row, ""]) + "\x1e\n"
    (tools.folder / "squeue.txt").write_text(rows)
    tools.program(
        "squeue", "#!/bin/sh\necho >> {tools}/asked\ncat {tools}/squeue.txt\n"
    )


def in_slurm(tools: Tools, **nodes: int) -> None:
    """condor_q has them as jobs of Slurm."""
    rows = [f"{n}\tbatch slurm here_1 slurm/20261126/{i}\n" for n, i in nodes.items()]
    (tools.folder / "jobs").write_text("".join([*rows, "bb_setup\tundefined\n"]))


def test_one_squeue_tells_of_all_jobs_and_what_never_begins_has_advice(
    tools: Tools,
) -> None:
    in_slurm(tools, A=11, B=12, C=13, D=14)
    squeue(tools, (11, "Priority"), (12, STUCK), (13, "None"), (99, STUCK))
    first, second = slurm_waits(32)
    assert first == ("A", "11", "Priority", "")
    assert second[:3] == ("B", "12", STUCK)
    assert "no node has what it asks for" in second.would_do
    assert "scontrol show job 12" in second.would_do
    assert (tools.folder / "asked").read_text().count("\n") == 1


@pytest.mark.parametrize("silent", ["condor_q", "squeue"])
def test_without_an_answer_no_reason_is_made_up(tools: Tools, silent: str) -> None:
    in_slurm(tools, A=11)
    squeue(tools, (11, STUCK))
    tools.program(silent, "#!/bin/sh\nexit 1\n")
    assert slurm_waits(32) == []


def test_a_reason_is_told_once_and_each_job_that_never_begins(
    place: SubmitDir, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    table = Table(Dag({name: Node(name, f"{name}.sub") for name in "ABC"}), ())
    watch = QueueWatch(place, table)

    def looks() -> list[str]:
        now[0] += 60
        return watch.messages(32)

    in_slurm(tools, A=11, B=12, C=13)
    squeue(tools, (11, "Priority"), (12, "Priority"), (13, STUCK))
    assert looks() == []  # no job waits for long: nothing is asked
    assert not (tools.folder / "asked").exists()
    for item in table.items.values():
        table.move(item, State.RUNNING)
        item.queued = time.time() - 60
    priority, stuck = looks()
    assert priority == "A, B wait in Slurm (job 11): Priority"
    assert stuck.startswith(f"C waits in Slurm (job 13): {STUCK}\n  it does not begin")
    assert looks() == []
    squeue(tools, (11, "Resources"), (12, STUCK))
    assert [line.split(" (")[0] for line in looks()] == [
        "A waits in Slurm",
        "B waits in Slurm",
    ]


def test_status_says_why_jobs_wait(
    place: SubmitDir, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(place, "removed", 4)
    begun = "1795270080 INTERNAL *** DAGMAN_STARTED 32.0 ***\n10 A SUBMIT 33.0 c - 1\n"
    place.journal.write_text(begun)
    tools.queue("2\tundefined")
    in_slurm(tools, A=11)
    squeue(tools, (11, STUCK))
    assert run_status(place).waits[0][:3] == ("A", "11", STUCK)
    status_command([str(place.path)], standalone_mode=False)
    assert (
        f"A waits in Slurm (job 11): {STUCK}\n  it does not begin by itself: no node"
        in (capsys.readouterr().out)
    )
