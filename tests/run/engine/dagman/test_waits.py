"""Slurm's reason why a job does not begin reaches the person who waits."""

from __future__ import annotations

import time

import pytest

from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.run.engine.dagman import job_waits as module
from pegasus_bb.run.engine.dagman.job_waits import QueueWatch, wait_messages, waits_of
from pegasus_bb.run.engine.node_table import NodeState, NodeTable
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.backends.squeue import FORMAT
from tests.run.engine.dagman.conftest import Tools

FIELDS = FORMAT.count(":0")
STUCK = "BadConstraints"
# No slot has enough.
STATUS = "#!/bin/sh\n[ $1 = -limit ] || cat {recorded}/pool-disks.txt\n"


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


def test_a_job_that_no_disk_of_the_pool_has_room_for_is_told(tools: Tools) -> None:
    rows = ("A\t7\t9216", "B\t8\t69120", "C\t9\tundefined")
    (tools.folder / "idle").write_text("".join(f"{row}\n" for row in rows))
    assert waits_of(32) == []  # the pool does not tell
    tools.program("condor_status", STATUS)
    (told,) = wait_messages(waits_of(32))
    why = "it asks for 67.5 MiB of disk, and no slot of the pool has more than 57.4 MiB"
    begins, mend = told.split("\n")
    assert begins == f"B waits in HTCondor's pool (job 8): {why}"
    assert "condor_qedit 8 RequestDisk 58808 " in mend
    tools.falls_silent()
    assert waits_of(32) == []


def test_a_reason_is_told_once_and_each_job_that_never_begins(
    place: SubmitDir, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    table = NodeTable(Dag({name: Node(name, f"{name}.sub") for name in "ABC"}), ())
    watch = QueueWatch(place, table)

    def looks() -> list[str]:
        now[0] += 60
        return watch.messages(32)

    in_slurm(tools, A=11, B=12, C=13)
    squeue(tools, (11, "Priority"), (12, "Priority"), (13, STUCK))
    assert looks() == []  # no job waits for long: nothing is asked
    assert not (tools.folder / "asked").exists()
    for item in table.items.values():
        table.move(item, NodeState.RUNNING)
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
