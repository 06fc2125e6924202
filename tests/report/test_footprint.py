"""How large a workflow's files are, also of a run of which nothing was planned."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pegasus_bb.model.run import FileUse, Kind, Task
from pegasus_bb.report.footprint import declared, footprint, planned, programs
from pegasus_bb.report.kickstart import read_tasks
from pegasus_bb.report.run_notes import Known
from tests.report.made import a_task

MIB = 1 << 20
WORKFLOW = """\
pegasus: "5.0"
name: demo
jobs:
- {type: job, name: cut, id: A, uses: [
    {lfn: in.txt, type: input}, {lfn: ref.txt, type: input, metadata: {size: 40}},
    {lfn: mid.txt, type: output}]}
- {type: job, name: cat, id: B, uses: [
    {lfn: mid.txt, type: input}, {lfn: out.txt, type: output}]}
"""


STAGE_IN = """\
- invocation: True
  version: 3.0
  start: 2026-11-26T23:38:07.014+00:00
  duration: 0.080
  transformation: "pegasus::transfer"
  mainjob:
    start: 2026-11-26T23:38:07.015+00:00
    duration: 0.079
    pid: 7
    usage: {utime: 0.1, stime: 0.1}
    status: {raw: 0, regular_exitcode: 0}
    procs:
      7: {rchar: 9, wchar: 300000}
  files:
    stdout: {size: 119000}
    stderr: {size: 0}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "workflow.yml").write_text(WORKFLOW)
    return tmp_path


@pytest.fixture
def tasks() -> list[Task]:
    """A plain run: its records have the sizes of what was made."""
    made = {name: FileUse(name, name, size=7, output=True) for name in ("mid", "out")}
    return [
        a_task(node="in", kind=Kind.STAGE_IN, wchar=MIB, files=()),
        a_task("cut", files=(made["mid"],)),
        a_task("cat", files=(made["out"],)),
    ]


def of_a_plain_run(folder: Path, tasks: list[Task], scheme: str = "file") -> int | None:
    names = ("in.txt", "ref.txt")
    entries = [{"lfn": n, "dest_urls": [{"url": f"{scheme}:///s/{n}"}]} for n in names]
    (folder / "in.in").write_text(json.dumps(entries))
    lists = {"in": folder / "in.in"}
    files = declared(folder / "workflow.yml", lists, tasks)
    return footprint(files, tasks)


def test_what_staging_in_said_is_not_what_it_copied(
    folder: Path, tasks: list[Task]
) -> None:
    """The file system cloned the inputs, and counted nothing."""
    tasks[0] = a_task(node="in", kind=Kind.STAGE_IN, wchar=2000, files=())
    assert of_a_plain_run(folder, tasks) is None


def test_inputs_are_as_large_as_what_staging_in_copied(
    folder: Path, tasks: list[Task]
) -> None:
    assert of_a_plain_run(folder, tasks) == MIB + 7 + 7


def test_what_stage_in_prints_is_no_data(tmp_path: Path) -> None:
    """A line for each of many small files is more than the files."""
    record = tmp_path / "in.out.000"
    record.write_text(STAGE_IN)
    (task,) = read_tasks(record, "stage_in_remote_site_0_0")
    assert isinstance(task, Task) and task.wchar == 300_000 - 119_000


def test_the_size_of_an_input_is_that_of_its_source_and_a_program_is_no_data(
    folder: Path, tasks: list[Task]
) -> None:
    source, end = folder / "in.txt", tasks[0].end
    source.write_bytes(b"x" * 100)
    os.utime(source, (end, end))
    urls = {
        "src_urls": [{"url": f"file://{source}"}],
        "dest_urls": [{"url": "file:///s"}],
    }
    entries = [{"lfn": "in.txt", **urls}, {"lfn": "cut", "executable": True, **urls}]
    (folder / "in.in").write_text(json.dumps(entries))
    lists = {"in": folder / "in.in"}
    files = declared(folder / "workflow.yml", lists, tasks)
    assert footprint(files, tasks) == 100 + 40 + 7 + 7
    assert programs(lists, tasks) == {"cut"}
    os.utime(source, (end + 1, end + 1))  # it was written since
    assert declared(folder / "workflow.yml", lists, tasks)["in.txt"].size is None


def test_inputs_that_are_linked_have_no_known_size_and_never_none(
    folder: Path, tasks: list[Task]
) -> None:
    assert of_a_plain_run(folder, tasks, "symlink") is None


def test_what_was_copied_before_a_stage_in_was_tried_again_is_not_known(
    folder: Path, tasks: list[Task]
) -> None:
    tasks[0] = a_task(node="in", kind=Kind.STAGE_IN, wchar=MIB, retry=1)
    assert of_a_plain_run(folder, tasks) is None


def test_where_calls_were_counted_an_input_has_what_a_task_read_of_it(
    folder: Path, tasks: list[Task]
) -> None:
    read = FileUse("in.txt", "/s/in.txt", bytes_read=60)
    tasks += [a_task("cut", files=(read,)), a_task("cut", files=(read,))]
    assert of_a_plain_run(folder, tasks, "symlink") == 60 + 40 + 7 + 7


def test_what_every_file_was_declared_to_have_is_enough(
    folder: Path, tasks: list[Task]
) -> None:
    text = WORKFLOW.replace("in.txt, type: input", "in.txt, type: input, size: 1KiB", 1)
    (folder / "workflow.yml").write_text(text)
    assert of_a_plain_run(folder, tasks, "symlink") == 1024 + 40 + 7 + 7


@pytest.mark.parametrize("text", ["", "[", "jobs: 3", "jobs: [{uses: [3, {lfn: a}]}]"])
def test_of_what_is_no_workflow_nothing_is_known(
    folder: Path, tasks: list[Task], text: str
) -> None:
    (folder / "workflow.yml").write_text(text)
    assert of_a_plain_run(folder, tasks) is None


def test_sizes_are_those_that_were_seen_else_those_that_were_planned() -> None:
    files = {name: Known(size, False, False) for name, size in (("a", 100), ("b", 7))}
    seen = (FileUse("a", "a", size=90), FileUse("d", "d", size=1))
    assert footprint(files, [a_task(files=seen)]) == 98


def test_a_file_that_may_not_have_been_made_is_left_out() -> None:
    files = {"a": Known(100, True, True), "b": Known(None, False, False)}
    assert footprint(files, [a_task()]) == 100


@pytest.mark.parametrize("text", ["", "[]", '{"files": [1]}', '{"files": {"a": 1}}'])
def test_a_placement_that_says_nothing_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "bb").mkdir()
    (tmp_path / "bb/placement.json").write_text(text)
    assert planned(tmp_path) == {}
    assert footprint({}, []) is None
