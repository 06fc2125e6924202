"""The journal's format, what a person sees, and a task's last words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pegasus_bb.model.dag.nodes import Node, Script
from pegasus_bb.run.engine.evidence import evidence
from pegasus_bb.run.engine.failure_messages import failure_messages
from pegasus_bb.run.engine.jobstate_log import JobstateLog, failure, read_history
from pegasus_bb.run.engine.node_table import NodeEntry
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.job_reservation.results import NOTES

# A line of a jobstate.log that Pegasus's monitord wrote.
MONITORD = "1677911034 create_dir_process_0_local JOB_SUCCESS 0 local - 1"


def test_the_journal_has_monitords_columns(tmp_path: Path) -> None:
    journal = JobstateLog(tmp_path / "jobstate.log")
    journal.engine("DAGMAN_STARTED 12.0")
    journal.note("create_dir_process_0_local", "JOB_SUCCESS", "0", "local", 1)
    journal.note("noop", "SUBMIT", "2.0", "", 2)
    journal.engine("DAGMAN_FINISHED 0")
    journal.close()
    lines = (tmp_path / "jobstate.log").read_text().splitlines()
    plain = [re.sub(r"^\d{10}\b", "T", line) for line in lines]
    assert plain == [
        "T INTERNAL *** DAGMAN_STARTED 12.0 ***",
        re.sub(r"^\d{10}", "T", MONITORD),
        "T noop SUBMIT 2.0 - - 2",
        "T INTERNAL *** DAGMAN_FINISHED 0 ***",
    ]
    history = read_history(tmp_path / "jobstate.log")
    assert (history.finished, history.crashed, history.sequence) == (0, False, 2)


@pytest.mark.parametrize(
    ("event", "detail", "words"),
    [
        ("JOB_FAILURE", "3", "its job ended with exit status 3"),
        ("JOB_FAILURE", "-9", "its job ended with signal 9"),
        ("JOB_FAILURE", "-1002", "its job was removed from HTCondor's queue"),
        ("JOB_FAILURE", "-1001", "its job could not be submitted"),
        ("POST_SCRIPT_FAILURE", "-", "its POST script found a failure in what its"),
    ],
)
def test_an_event_says_how_a_job_has_ended(event: str, detail: str, words: str) -> None:
    assert failure(event, detail).startswith(words)


def test_what_the_record_says_comes_before_what_monitord_does(
    place: SubmitDir,
) -> None:
    """It has a grid job end with 0, and only the job's number for its POST script."""
    base = place.path / "00"
    (base / "a.out.000").write_text("- invocation: True\n  version: 3.0\n" + FAILED)
    node = Node("a", "00/a.sub", post=Script("/bb/bin/exitcode", "00/a.out"))
    said = failure("POST_SCRIPT_FAILURE", "48.0")
    item = NodeEntry(node, 0, [], stage="post", reason=said)
    assert "exit code 3" in failure_messages([item], place)[0]
    notes = place.bb / NOTES
    notes.mkdir(parents=True)
    (notes / "a.err").write_text("no space left\n")
    assert "its results did not come back" in failure_messages([item], place)[0]


FAILED = """\
  mainjob:
    status:
      raw: 768
      regular_exitcode: 3
"""
TRACE = """\
        Traceback
          deeper
        ValueError: no such chromosome

"""
RECORD = f"""\
- invocation: True
  version: 3.0
  files:
    stdout:
      data: |
        read 3 of 22 chromosomes
    stderr:
      temporary_name: /tmp/ks.err
      data: |
{TRACE}    metadata:
      data: |
        not this
"""


@pytest.fixture
def place(tmp_path: Path) -> SubmitDir:
    (tmp_path / "00").mkdir()
    return SubmitDir(tmp_path, tmp_path / "w.dag")


@pytest.fixture
def item() -> NodeEntry:
    return NodeEntry(
        Node("a", "00/a.sub"), 0, [], status=1, reason="the job ended with 1"
    )


@pytest.mark.parametrize(
    ("out", "err", "lines"),
    [
        (
            RECORD.replace(TRACE, ""),
            "on node c1\n",
            ["read 3 of 22 chromosomes", "on node c1"],
        ),
        ("half a result\n", "1\n2\n3\n4\n5\n6\n7\n", ["3", "4", "5", "6", "7"]),
        ("- invocation: True\n  version: 3.0\n", "cannot start\n", ["cannot start"]),
        (None, None, []),
    ],
    ids=["blank stderr", "no record", "no output in it", "no files"],
)
def test_the_last_lines_are_where_the_task_has_left_them(
    place: SubmitDir,
    item: NodeEntry,
    out: str | None,
    err: str | None,
    lines: list[str],
) -> None:
    for name, text in {"out": out, "err": err}.items():
        if text is not None:
            (place.path / f"00/a.{name}.000").write_text(text)
    assert [line for one in evidence(item, place) for line in one.lines] == lines
