"""What was moved for a run, from what its own programs have noted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.run import Kind, Task
from pegasus_bb.report.staged import Saved, brought, saved

MakeTask = Callable[..., Task]


@pytest.fixture
def bb(tmp_path: Path) -> Path:
    folder = tmp_path / "bb"
    folder.mkdir()
    (folder / "request.json").write_text('{"uuid": "u1"}')
    return folder


def line(lfn: str, size: object, time: float, uuid: str = "u1") -> str:
    return json.dumps({"lfn": lfn, "size": size, "time": time, "uuid": uuid}) + "\n"


def place(bb: Path, **files: dict[str, Any]) -> None:
    (bb / "placement.json").write_text(json.dumps({"files": files}))


def test_results_are_those_of_the_manifest_each_once(bb: Path) -> None:
    lines = line("a", 10, 5.0) + line("b", 7, 9.0) + line("a", 12, 6.0)
    (bb / "manifest.jsonl").write_text(lines)

    assert saved(bb.parent) == Saved(19, 9.0)


def test_lines_of_another_run_and_torn_ones_do_not_count(bb: Path) -> None:
    (bb / "manifest.jsonl").write_text(
        line("a", 10, 5.0)
        + line("b", 7, 9.0, uuid="u2")
        + line("c", None, 9.0)
        + '["d"]\n{"lfn": "e", "si'
    )

    assert saved(bb.parent) == Saved(10, 5.0)


def test_what_jobs_own_reservations_staged_out_counts_once_it_is_back(
    bb: Path,
) -> None:
    landed = bb / "stage_out"
    landed.mkdir()
    for name, size in (("cat", 10), ("cut", 20)):
        note = {"files": {"a": {"size": size}}, "time": 8.0}
        (landed / f"{name}.json").write_text(json.dumps(note))
    (landed / "cut.wait.json").write_text('{"since": 1}')

    assert saved(bb.parent) == Saved(10, 8.0)


def test_without_a_note_nothing_is_known(tmp_path: Path) -> None:
    assert saved(tmp_path) is None
    assert brought(tmp_path, []) is None


def test_staging_in_brought_what_its_jobs_wrote(bb: Path, a_task: MakeTask) -> None:
    place(bb, a={"how": "copy", "size": 100})
    tasks = [a_task(kind=Kind.STAGE_IN, wchar=n) for n in (60, 50)]

    assert brought(bb.parent, [*tasks, a_task()]) == 110


def test_else_it_brought_what_was_planned_and_links_bring_nothing(bb: Path) -> None:
    place(bb, a={"how": "copy", "size": 100}, b={"how": "link", "size": 7})
    assert brought(bb.parent, []) == 100

    place(bb, a={"how": "copy", "size": 100}, b={"how": "copy", "size": None})
    assert brought(bb.parent, []) is None
