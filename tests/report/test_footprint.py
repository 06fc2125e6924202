"""How large a workflow's files are, also of a run of which nothing was planned."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pegasus_bb.model.run import FileUse, Kind, Task
from pegasus_bb.report.footprint import (
    declared,
    footprint,
    programs,
    staged_in,
    written_by,
)
from pegasus_bb.report.run_notes import Known
from tests.report.sample_runs import a_task

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


def test_the_size_of_an_input_is_that_of_its_source_and_a_program_is_no_data(
    folder: Path, tasks: list[Task]
) -> None:
    source = folder / "in.txt"
    end = tasks[0].end
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


COPIED = Known(100, True, True)
LINKED = Known(7, True, False)
UNKNOWN = Known(None, True, True)


def a_stage_in(written: int | None) -> Task:
    return a_task(kind=Kind.STAGE_IN, wchar=written)


def test_staged_out_bytes_are_those_that_its_jobs_wrote() -> None:
    out = [a_task(kind=Kind.STAGE_OUT, wchar=MIB) for _ in range(2)]
    assert written_by(Kind.STAGE_OUT, [*out, a_stage_in(5 * MIB)]) == 2 * MIB
    again = a_task(kind=Kind.STAGE_OUT, wchar=MIB, retry=1)
    assert written_by(Kind.STAGE_OUT, [*out, again]) is None


@pytest.mark.parametrize(
    ("files", "written", "expected"),
    [
        ([COPIED, LINKED], MIB, MIB),
        ([COPIED, LINKED], 2000, 100),  # the file system cloned it
        ([COPIED, LINKED], None, 100),
        ([UNKNOWN, LINKED], 2000, None),
        ([LINKED], 2000, 0),
        ([], MIB, MIB),
        ([], 2000, None),
    ],
)
def test_staged_in_bytes_are_those_that_were_copied(
    files: list[Known], written: int | None, expected: int | None
) -> None:
    named = {f"f{number}": file for number, file in enumerate(files)}
    tasks = [a_stage_in(written), a_task(wchar=5 * MIB)]
    assert staged_in(named, tasks) == expected
