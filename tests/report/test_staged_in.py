"""Bytes of staging in: of copies, never the words that its jobs print."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Kind, Task
from pegasus_bb.report.footprint import staged_in
from pegasus_bb.report.run_notes import Known
from tests.report.made import a_task

MIB = 1 << 20
COPIED = Known(100, True, True)
LINKED = Known(7, True, False)
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
def test_staged_in_bytes_are_those_that_were_copied(
    files: list[Known], written: int | None, expected: int | None
) -> None:
    named = {f"f{number}": file for number, file in enumerate(files)}
    tasks = [a_stage_in(written), a_task(wchar=5 * MIB)]
    assert staged_in(named, tasks) == expected
