"""Bytes of staging in: of copies, never the words that its jobs print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.model.run import Kind, Task
from pegasus_bb.report.run_folder import read_run
from pegasus_bb.report.run_notes import Known
from pegasus_bb.report.staged_in import staged_in
from tests.report.made import a_task, record_text

MIB = 1 << 20
COPIED, LINKED = Known(100, True, True), Known(7, True, False)
UNKNOWN = Known(None, True, True)


def a_stage_in(written: int | None) -> Task:
    return a_task(kind=Kind.STAGE_IN, wchar=written)


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
def test_it_is_what_was_copied(
    files: list[Known], written: int | None, expected: int | None
) -> None:
    named = {f"f{number}": file for number, file in enumerate(files)}
    tasks = [a_stage_in(written), a_task(wchar=5 * MIB)]
    assert staged_in(named, tasks) == expected


def test_without_jobs_and_files_nothing_is_known() -> None:
    assert staged_in({}, []) is None


@pytest.mark.parametrize(("how", "moved"), [("link", 0), ("copy", 300)])
def test_a_job_that_only_makes_links_moves_nothing(
    tmp_path: Path, how: str, moved: int
) -> None:
    (tmp_path / "bb").mkdir()
    placed = {"files": {"a": {"how": how, "size": 1}}}
    (tmp_path / "bb/placement.json").write_text(json.dumps(placed))
    record = record_text("pegasus::transfer", job="null")
    row = "      42: {rchar: 300, wchar: 300}\n"
    (tmp_path / "stage_in_0.out.000").write_text(record + row)
    entry = {"lfn": "a", "dest_urls": [{"url": "file:///s/a"}]}
    (tmp_path / "stage_in_0.in").write_text(json.dumps([entry]))
    (tmp_path / "stage_in_0.sub").write_text("queue\n")
    run = read_run(tmp_path)
    assert [(task.rchar, task.wchar) for task in run.tasks] == [(moved, moved)]
    assert run.brought == (0 if how == "link" else 1)
