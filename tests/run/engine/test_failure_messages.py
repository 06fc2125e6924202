"""The journal's format, what a person sees, and a task's last words."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from pegasus_bb.model.dag.nodes import Node, Script
from pegasus_bb.run.engine.evidence import evidence
from pegasus_bb.run.engine.failure_messages import failure_messages
from pegasus_bb.run.engine.jobstate_log import Journal, read_history
from pegasus_bb.run.engine.node_progress import Lines
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.run.engine.table import Item

from .conftest import Folder

# A line of a jobstate.log that Pegasus's monitord wrote.
MONITORD = "1677911034 create_dir_process_0_local JOB_SUCCESS 0 local - 1"


def test_the_journal_has_monitords_columns(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "jobstate.log")
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


def test_the_site_of_a_job_stands_in_the_journal(folder: Folder) -> None:
    folder.job("a", submit='+pegasus_site = "cori"')
    folder.run()
    lines = (folder.path / "jobstate.log").read_text().splitlines()
    assert [line.split()[4] for line in lines[1:-1]] == ["cori"] * 4


def test_a_log_gets_a_line_per_node(folder: Folder) -> None:
    folder.job("a")
    folder.job("b", pre=folder.script("gate", "exits=75,75,0", defer=75))
    folder.chain("a", "b")
    out = io.StringIO()
    folder.run(progress=Lines(out, folder.path))
    lines = [re.sub(r"[0-9.]+ s", "T", line) for line in out.getvalue().splitlines()]
    assert lines[0] == "2 nodes"
    assert lines[1] == "[1/2] a: done (T)"
    assert "b waits: not yet" in lines
    assert lines[-1] == "[2/2] b: done (T)"


def test_a_large_run_does_not_flood_a_log() -> None:
    out = io.StringIO()
    watcher = Lines(out)
    watcher.begin(10_000, 0)
    for number in range(10_000):
        watcher.ended(f"n{number}", "done", 0.1)
    watcher.ended("bad", "failed: x", 0.1)
    lines = out.getvalue().splitlines()
    assert len(lines) == 102 and lines[-1].startswith("[10000/10000] bad: failed: x")


@pytest.mark.parametrize(
    ("judge", "status", "told"),
    [
        ("exitcode", 1, "its job ended with exit status 7"),
        ("pegasus-exitcode", 1, "its job ended with exit status 7"),
        ("exitcode", 2, "its POST script ended with exit status 2, its job with exit"),
        ("check", 1, "its POST script ended with exit status 1, its job with exit"),
    ],
)
def test_a_post_script_that_only_passes_on_a_failure_is_not_named(
    folder: Folder, judge: str, status: int, told: str
) -> None:
    (folder.path / judge).symlink_to(folder.program)
    folder.job("a", "exits=7", post=Script(judge, f"post exits={status}"))
    assert f"\n  a: {told}" in folder.fails()


@pytest.mark.parametrize(("status", "again"), [(76, True), (78, False)])
def test_a_refused_request_needs_a_new_plan(
    folder: Folder, status: int, again: bool
) -> None:
    folder.job("bb_setup_BB0000001", f"exits={status}")
    assert ("plan again" in folder.fails()) is again


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
def item() -> Item:
    return Item(Node("a", "00/a.sub"), 0, [], status=1, reason="the job ended with 1")


def test_the_newest_record_has_the_last_lines(place: SubmitDir, item: Item) -> None:
    older, newer = place.path / "00/a.out.000", place.path / "00/a.out.001"
    older.write_text(RECORD.replace("ValueError", "OlderError"))
    newer.write_text(RECORD)
    (place.path / "00/a.err.001").write_text("")
    assert failure_messages([item], place) == [
        "  a: the job ended with 1",
        f"    see {newer}",
        "    | Traceback",
        "    | deeper",
        "    | ValueError: no such chromosome",
    ]


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
    place: SubmitDir, item: Item, out: str | None, err: str | None, lines: list[str]
) -> None:
    for name, text in {"out": out, "err": err}.items():
        if text is not None:
            (place.path / f"00/a.{name}.000").write_text(text)
    assert [line for one in evidence(item, place) for line in one.lines] == lines


@pytest.mark.parametrize(
    ("program", "arguments", "log"),
    [
        ("a.pre.sh", "-Dpegasus.log.*={log} --sites cori", "pegasus-plan_SUB.pre.log"),
        ("bb/bin/gate", "", "bb/gate.err"),
    ],
)
def test_a_pre_script_that_fails_shows_its_log(
    place: SubmitDir, item: Item, program: str, arguments: str, log: str
) -> None:
    place.bb.mkdir()
    (place.path / log).write_text("ERROR: it cannot be\n")
    (place.path / "00/a.out.000").write_text(RECORD)  # of an earlier attempt
    words = arguments.format(log=place.path / log)
    item.node.pre, item.stage = Script(program, words), "pre"
    assert failure_messages([item], place)[1:] == [
        f"    see {place.path / log}",
        "    | ERROR: it cannot be",
    ]


def test_a_sub_workflow_shows_its_failed_node(folder: Folder, tmp_path: Path) -> None:
    inner = Folder(tmp_path / "submit" / "inner")
    inner.job("cut", "exits=3", "err=no such column")
    inner.fails()
    log = f"{inner.path}/w.dag.dagman.out"
    environment = f'environment = "_CONDOR_DAGMAN_LOG={log}"'
    folder.job("pegasus-plan_SUB", "exits=1", "err=DAGMan ends", submit=environment)
    told = folder.fails().splitlines()
    at = told.index("  pegasus-plan_SUB: the job ended with exit status 1")
    assert told[at + 1 : at + 5] == [
        f"    in its sub-workflow {inner.path}/w.dag:",
        "    cut: its job ended with exit status 3",
        f"      see {inner.path}/cut.err",
        "      | no such column",
    ]
