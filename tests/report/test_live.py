"""How many bytes were on the tier, over the time of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.run import FileUse, Kind, LiveBytes, Task
from pegasus_bb.report.live import live_bytes
from pegasus_bb.report.reserved import Held

MakeTask = Callable[..., Task]
SCRATCH = "/bb/name/user/run"


def placed(tier: str, how: str, size: int | None) -> dict[str, Any]:
    return {"tier": tier, "how": how, "size": size}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "in.txt": placed("bb", "copy", 100),
        "ref.txt": placed("pfs", "link", 5000),
        "mid.txt": placed("bb", "write", 7),
        "out.txt": placed("bb", "write", None),
    }
    (tmp_path / "bb").mkdir()
    note(tmp_path / "bb/placement.json", {"scratch": SCRATCH, "files": files})
    note(tmp_path / "bb/request.json", {"capacity": 4096})
    note(tmp_path / "in.in", [{"type": "transfer", "lfn": "in.txt"}])
    note(tmp_path / "one.in", [removal(f"{SCRATCH}/./in.txt")])
    note(tmp_path / "all.in", [removal(SCRATCH)])
    return tmp_path


def note(path: Path, data: object) -> None:
    path.write_text(json.dumps(data))


def removal(path: str) -> dict[str, Any]:
    return {"type": "remove", "target": {"url": f"file://{path}"}}


@pytest.fixture
def tasks(a_task: MakeTask) -> list[Task]:
    made = FileUse("mid.txt", "mid.txt", size=30, output=True)
    out = FileUse("out.txt", "out.txt", size=50, output=True)
    read = FileUse("mid.txt", "mid.txt", size=30)
    return [
        a_task(node="in", kind=Kind.STAGE_IN, start=10.0),
        a_task(node="first", start=11.0, duration=2.0, files=(made,)),
        a_task(node="one", kind=Kind.CLEANUP, start=13.0),
        a_task(node="second", start=13.0, duration=4.0, files=(read, out)),
        a_task(node="all", kind=Kind.CLEANUP, start=20.0),
    ]


def live(folder: Path, tasks: list[Task], held: Held | None = None) -> LiveBytes | None:
    lists = {name: folder / f"{name}.in" for name in ("in", "one", "all")}
    return live_bytes(folder, lists, tasks, held)


def test_a_file_counts_from_who_brings_or_writes_it_to_who_removes_it(
    folder: Path, tasks: list[Task]
) -> None:
    steps = ((10.0, 100), (11.0, 130), (13.0, 180), (14.0, 80), (21.0, 0))
    assert live(folder, tasks) == LiveBytes(steps, 4096, 0)


def test_what_a_failed_cleaning_up_was_to_remove_stays(
    folder: Path, tasks: list[Task], a_task: MakeTask
) -> None:
    tasks[2] = a_task(node="one", kind=Kind.CLEANUP, start=13.0, exit_code=1)
    found = live(folder, tasks)
    assert found is not None
    assert found.steps == ((10.0, 100), (11.0, 130), (13.0, 180), (21.0, 0))


def test_a_file_of_unknown_size_or_writer_is_told_and_is_no_zero(
    folder: Path, tasks: list[Task]
) -> None:
    found = live(folder, tasks[:3])
    assert found is not None
    assert found.unknown == 1
    assert max(size for _, size in found.steps) == 130


@pytest.mark.parametrize("lost", ["placement.json", "request.json"])
def test_where_nothing_tells_what_was_there_nothing_is_said(
    folder: Path, tasks: list[Task], lost: str
) -> None:
    (folder / "bb" / lost).unlink()
    assert live(folder, tasks) is None


def test_jobs_with_rooms_beside_it_change_nothing_of_the_shared_one(
    folder: Path, tasks: list[Task]
) -> None:
    alone = live(folder, tasks)
    note(folder / "bb/transient.json", {})
    assert live(folder, tasks) == alone


def test_one_that_is_closed_early_ends_there_with_all_that_was_on_it(
    folder: Path, tasks: list[Task]
) -> None:
    found = live(folder, tasks, Held(4096, since=9.0, until=15.5))
    assert found is not None
    assert found.steps[-2:] == ((14.0, 80), (15.5, 0))
    assert found.reserved == ((9.0, 4096), (15.5, 0))


def test_one_that_is_held_still_has_no_end(folder: Path, tasks: list[Task]) -> None:
    found = live(folder, tasks, Held(4096, since=9.0, until=None))
    assert found is not None
    assert found.reserved == ((9.0, 4096),)


@pytest.mark.parametrize("text", ["", "[1, 2", "{}", "[1]", '[{"target": 3}]', "null"])
def test_a_damaged_job_list_costs_what_it_would_tell(
    folder: Path, tasks: list[Task], text: str
) -> None:
    (folder / "one.in").write_text(text)
    found = live(folder, tasks)
    assert found is not None
    assert found.steps[-1] == (21.0, 0)
