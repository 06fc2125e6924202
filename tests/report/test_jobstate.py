"""jobstate.log -> when each node changed state, and how long the run was under way."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.report.jobstate import job_states, read_jobstate

ONE_JOB = """\
1000 INTERNAL *** MONITORD_STARTED ***
1000 INTERNAL *** DAGMAN_STARTED 1.0 ***
1001 cat_ID1 SUBMIT 2.0 cluster - 1
1004 cat_ID1 EXECUTE 2.0 cluster - 1
1009 cat_ID1 JOB_TERMINATED 2.0 cluster - 1
1009 cat_ID1 JOB_SUCCESS 0 cluster - 1
1009 cat_ID1 POST_SCRIPT_STARTED 2.0 cluster - 1
1010 cat_ID1 POST_SCRIPT_TERMINATED 2.0 cluster - 1
1011 cat_ID1 POST_SCRIPT_SUCCESS 0 cluster - 1
1012 INTERNAL *** DAGMAN_FINISHED 0 ***
1090 INTERNAL *** MONITORD_FINISHED 0 ***
"""


NEXT_DAY = "".join(f"9{line}\n" for line in ONE_JOB.splitlines())


@pytest.mark.parametrize(
    ("text", "makespan"),
    [
        (ONE_JOB, 12),  # DAGMan's, not the monitor's
        (ONE_JOB.replace("1012 INTERNAL", "1011.75 INTERNAL"), 11.75),
        (ONE_JOB + NEXT_DAY, 24),  # resumed: lying still is not charged
        (ONE_JOB.split("1009 cat_ID1 POST", 1)[0], 9),  # killed: its last sign of life
        ("1001 cat_ID1 SUBMIT 2.0 cluster - 1", 0),
        ("", 0),
    ],
)
def test_the_makespan_is_the_time_in_which_an_engine_worked(
    tmp_path: Path, text: str, makespan: float
) -> None:
    (tmp_path / "jobstate.log").write_text(text)
    states = read_jobstate(tmp_path / "jobstate.log")
    worked = [until - since for since, until in states.stretches]
    assert (sum(worked), states.unread) == (makespan, 0)


def test_a_deferred_gate_waits_from_its_first_try_to_its_last() -> None:
    gate = "create_dir_demo_0_cori"
    text = f"""\
2000 INTERNAL *** DAGMAN_STARTED 1.0 ***
2000 {gate} PRE_SCRIPT_STARTED - cori - 1
2030 {gate} PRE_SCRIPT_STARTED - cori - 1
2060 {gate} PRE_SCRIPT_STARTED - cori - 1
2061 {gate} PRE_SCRIPT_SUCCESS 0 cori - 1
2061 {gate} SUBMIT 1.0 cori - 1
"""
    (node,) = job_states(text.splitlines()).nodes
    assert (node.pre_started, node.pre_ended, node.submitted) == (2000, 2061, 2061)


def test_of_a_node_that_was_tried_again_the_last_attempt_counts() -> None:
    text = ONE_JOB.replace("JOB_SUCCESS 0", "JOB_FAILURE 1").replace(
        "1012 INTERNAL",
        "1020 cat_ID1 SUBMIT 3.0 cluster - 2\n1021 cat_ID1 EXECUTE 3.0 cluster - 2\n"
        "1030 INTERNAL",
    )
    (node,) = job_states(text.splitlines()).nodes
    assert (node.submitted, node.executing, node.ended) == (1020, 1021, None)
    assert node.attempts == 2


@pytest.mark.parametrize(
    "line",
    [
        "12",
        "soon cat_ID1 SUBMIT 2.0",
        "inf INTERNAL *** DAGMAN_STARTED 1.0 ***",
        "1e300 cat_ID1 EXECUTE 1.0 c - 1",
    ],
)
def test_a_line_without_a_time_is_counted_and_skipped(line: str) -> None:
    states = job_states([*ONE_JOB.splitlines(), line])
    assert (states.unread, states.stretches) == (1, ((1000, 1012),))
