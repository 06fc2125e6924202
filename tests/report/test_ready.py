"""When nodes were ready, and how long they waited to be submitted."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.report.jobstate import job_states
from pegasus_bb.report.node_times import with_ready

DAG = """\
# a comment
JOB first first.sub
JOB left left.sub
JOB right right.sub
JOB last last.sub
PARENT first CHILD left right
parent left right child last
"""
BEGUN = "100 INTERNAL *** DAGMAN_STARTED 1.0 ***"


def ran(node: str, submitted: int, ended: int) -> list[str]:
    states = ((submitted, "SUBMIT"), (submitted, "EXECUTE"), (ended, "JOB_TERMINATED"))
    return [
        f"{t} {node} {s} 1.0 site - 1" for t, s in (*states, (ended, "JOB_SUCCESS"))
    ]


def waits(tmp_path: Path, *lines: str) -> dict[str, float | None]:
    (tmp_path / "demo-0.dag").write_text(DAG)
    dag = read_dag(tmp_path / "demo-0.dag")
    states = job_states([BEGUN, *lines])
    begins = [since for since, _ in states.stretches]
    nodes = with_ready(states.nodes, dag, begins)
    return {node.node: node.ready_wait for node in nodes}


def test_from_when_all_parents_had_ended_until_it_was_submitted(tmp_path: Path) -> None:
    found = waits(
        tmp_path,
        *ran("first", 103, 110),
        *ran("left", 110, 120),
        *ran("right", 117, 131),
        *ran("last", 135, 140),
    )
    assert found == {"first": 3, "left": 0, "right": 7, "last": 4}
