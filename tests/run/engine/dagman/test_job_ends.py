"""Why Slurm ended a job: its last words are in no file of the job."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.run.engine.dagman.job_ends import SlurmEnds
from pegasus_bb.run.engine.failure_messages import failure_messages
from pegasus_bb.run.engine.node_table import NodeTable
from pegasus_bb.run.engine.submitdir import SubmitDir
from tests.run.engine.dagman.conftest import RECORDED

SHOWN = RECORDED.parent / "slurm-24.11/show-job.use-completed.txt"
# As HTCondor 23.9 writes it: two tries of node B, and one of A.
LOG = """\
000 (668.000.000) 2026-11-29 15:57:22 Job submitted from host: <127.0.0.1:17639>
    DAG Node: B
    pool:cluster
...
000 (669.000.000) 2026-11-29 15:57:22 Job submitted from host: <127.0.0.1:17639>
    DAG Node: A
    pool:cluster
...
027 (668.000.000) 2026-11-29 15:57:27 Job submitted to grid resource
    GridResource: batch slurm
    GridJobId: batch slurm 127.0.0.1_0_testbed_668.0_1795967847 slurm/20261129/619
...
000 (680.000.000) 2026-11-29 15:58:47 Job submitted from host: <127.0.0.1:17639>
    DAG Node: B
    pool:cluster
...
027 (680.000.000) 2026-11-29 15:58:50 Job submitted to grid resource
    GridResource: batch slurm
    GridJobId: batch slurm 127.0.0.1_0_testbed_680.0_1795967930 slurm/20261129/631
...
"""


@pytest.fixture
def site(place: SubmitDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `scontrol show job 631` prints there."""
    place.dag.with_name(f"{place.dag.name}.nodes.log").write_text(LOG)
    tools = tmp_path / "tools"
    tools.mkdir()
    shown = tmp_path / "shown"
    scontrol = tools / "scontrol"
    scontrol.write_text(f'#!/bin/sh\n[ "$*" = "show job 631" ] && cat {shown}\n')
    scontrol.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return shown


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("TIMEOUT", "ended its job 631 at its time limit, 00:05:00; the profile runt"),
        ("OUT_OF_MEMORY", "at its memory limit; the profile memory"),
        ("NODE_FAIL", "with its node, vm, which failed"),
        ("COMPLETED", ""),
        ("FAILED", ""),  # by itself
    ],
)
def test_a_job_that_slurm_has_ended_says_why(
    place: SubmitDir, site: Path, state: str, words: str
) -> None:
    text = SHOWN.read_text().replace("JobState=COMPLETED", f"JobState={state}")
    site.write_text(text.replace("JobId=31", "JobId=631"))
    found = SlurmEnds(place).why("B")
    assert words in found
    assert bool(found) == bool(words)


def test_it_stands_below_the_failure(place: SubmitDir, site: Path) -> None:
    site.write_text(SHOWN.read_text().replace("JobState=COMPLETED", "JobState=TIMEOUT"))
    item = NodeTable(place.read_dag(), set()).items["B"]
    item.stage, item.reason = "job", "its job ended with signal 15"
    first, second, *_ = failure_messages([item], place)
    assert first == "  B: its job ended with signal 15"
    assert "at its time limit" in second


def test_a_job_that_slurm_never_had_or_has_forgotten_says_nothing(
    place: SubmitDir, site: Path
) -> None:
    ends = SlurmEnds(place)
    assert (ends.number("A"), ends.number("another"), ends.why("B")) == ("", "", "")


def test_a_log_that_grows_is_read_once(place: SubmitDir, site: Path) -> None:
    log = place.dag.with_name(f"{place.dag.name}.nodes.log")
    log.write_text("")
    ends = SlurmEnds(place)
    seen = []
    for line in LOG.splitlines(keepends=True):
        with log.open("a") as out:
            out.write(line)
        seen += [number for number in [ends.number("B")] if number not in seen]
    assert seen == ["", "619", "631"]
