"""The journal's format, what a person sees, and a task's last words."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from pegasus_bb.dag.nodes import Node, Script
from pegasus_bb.engine.evidence import evidence
from pegasus_bb.engine.failure_messages import failure_messages
from pegasus_bb.engine.journal import Journal, read_history
from pegasus_bb.engine.progress import Bar, Lines, choose
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.engine.table import Item
from pegasus_bb.errors import RunFailed

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
    folder.run(progress=choose(folder.path, out))
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


def test_a_terminal_gets_a_bar_with_names() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    bar = Bar(console)
    bar.begin(3, 1)
    for name in ("a", "b"):
        bar.running(name)
    bar.waiting("b")
    bar.ended("b", "failed: [x]", 0.1)
    bar.close()
    text = screen.getvalue()
    assert "1/3" in text and "b: failed: [x]" in text


def reasons(folder: Folder, judge: str, status: int) -> str:
    """What is told where the job ended with 7 and the POST script with ``status``."""
    (folder.path / judge).symlink_to(folder.program)
    folder.job("a", "exits=7", post=Script(judge, f"post exits={status}"))
    with pytest.raises(RunFailed) as caught:
        folder.run()
    return re.search(r"^  a: (.*)$", str(caught.value), re.MULTILINE)[1]  # type: ignore[index]


@pytest.mark.parametrize("judge", ["exitcode", "pegasus-exitcode"])
def test_a_post_script_that_passes_a_failure_on_is_not_told(
    folder: Folder, judge: str
) -> None:
    assert reasons(folder, judge, 1) == "its job ended with exit status 7"


@pytest.mark.parametrize(("judge", "status"), [("exitcode", 2), ("check", 1)])
def test_a_post_script_with_a_mind_of_its_own_is_told(
    folder: Folder, judge: str, status: int
) -> None:
    told = f"its POST script ended with exit status {status}, its job with exit status"
    assert reasons(folder, judge, status) == f"{told} 7"


@pytest.mark.parametrize(("status", "again"), [(76, True), (78, False)])
def test_a_refused_request_is_said_to_be_the_plan_s(
    folder: Folder, status: int, again: bool
) -> None:
    folder.job("bb_setup_BB0000001", f"exits={status}")
    with pytest.raises(RunFailed) as caught:
        folder.run()
    assert ("plan again" in str(caught.value)) is again


RECORD = """\
- invocation: True
  version: 3.0
  files:
    stdout:
      data: |
        read 3 of 22 chromosomes
    stderr:
      temporary_name: /tmp/ks.err
      data: |
        Traceback
          deeper
        ValueError: no such chromosome

    metadata:
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


def last_lines(item: Item, place: SubmitDir) -> list[str]:
    return [line for one in evidence(item, place) for line in one.lines]


def test_the_last_lines_of_a_task_come_from_its_newest_record(
    place: SubmitDir, item: Item
) -> None:
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


def test_a_record_with_a_blank_stderr_tells_what_its_stdout_says(
    place: SubmitDir, item: Item
) -> None:
    begin, _, end = RECORD.partition("        Traceback")
    record = begin + "    metadata:" + end.partition("    metadata:")[2]
    (place.path / "00/a.out.000").write_text(record)
    (place.path / "00/a.err.000").write_text("launch: on node c1\n")
    said = ["read 3 of 22 chromosomes", "launch: on node c1"]
    assert last_lines(item, place) == said


def test_without_a_record_the_last_lines_are_in_err(
    place: SubmitDir, item: Item
) -> None:
    (place.path / "00/a.out").write_text("half a result\n")
    (place.path / "00/a.err").write_text("".join(f"line {n}\n" for n in range(9)))
    assert last_lines(item, place) == [f"line {n}" for n in range(4, 9)]


def test_a_long_reason_is_told_with_what_would_do(place: SubmitDir, item: Item) -> None:
    reason = f"{'Slurm refuses it ' * 20}; an administrator has to mend it"
    (place.path / "00/a.err").write_text(f"{reason}\n{'x' * 10_000}\n")
    told = failure_messages([item], place)
    assert f"    | {reason}" in told
    assert max(map(len, told)) < 700


def test_a_record_without_output_leaves_it_to_err(place: SubmitDir, item: Item) -> None:
    (place.path / "00/a.out").write_text("- invocation: True\n  version: 3.0\n")
    (place.path / "00/a.err").write_text("cannot execute\n")
    assert last_lines(item, place) == ["cannot execute"]


def test_no_files_no_lines(place: SubmitDir, item: Item) -> None:
    assert failure_messages([item], place) == ["  a: the job ended with 1"]


def test_a_failed_planner_of_a_sub_workflow_shows_its_log(
    place: SubmitDir, item: Item
) -> None:
    log = place.path / "pegasus-plan_SUB.pre.log"
    log.write_text("ERROR: no site cori\n")
    (place.path / "00/a.out.000").write_text(RECORD)  # of an earlier attempt
    item.node.pre = Script("a.pre.sh", f"-Dpegasus.log.*={log} --sites cori")
    item.stage = "pre"
    assert failure_messages([item], place)[1:] == [
        f"    see {log}",
        "    | ERROR: no site cori",
    ]


def test_a_gate_that_says_no_shows_its_reason(place: SubmitDir, item: Item) -> None:
    place.bb.mkdir()
    (place.bb / "gate.err").write_text("gate: Slurm refuses 9 TiB\n")
    item.node.pre, item.stage = Script("bb/bin/gate"), "pre"
    assert failure_messages([item], place)[1:] == [
        f"    see {place.bb}/gate.err",
        "    | gate: Slurm refuses 9 TiB",
    ]


def test_a_failed_sub_workflow_shows_its_failed_node(
    folder: Folder, tmp_path: Path
) -> None:
    inner = Folder(tmp_path / "submit" / "inner")
    inner.job("cut", "exits=3", "err=no such column")
    with pytest.raises(RunFailed):
        inner.run()
    log = f"{inner.path}/w.dag.dagman.out"
    environment = f'environment = "_CONDOR_DAGMAN_LOG={log}"'
    folder.job("pegasus-plan_SUB", "exits=1", "err=DAGMan ends", submit=environment)
    with pytest.raises(RunFailed) as caught:
        folder.run()
    told = str(caught.value).splitlines()
    at = told.index("  pegasus-plan_SUB: the job ended with exit status 1")
    assert told[at + 1 : at + 5] == [
        f"    in its sub-workflow {inner.path}/w.dag:",
        "    cut: its job ended with exit status 3",
        f"      see {inner.path}/cut.err",
        "      | no such column",
    ]
