"""Live bytes over the time of a run, on the shared reservation and on jobs' own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.run import FileUse, Kind, LiveBytes, NodeTimes, Task
from pegasus_bb.report.live import live_on_jobs, live_on_shared
from pegasus_bb.report.reserved import Reserved, reservations
from pegasus_bb.report.run_notes import read_note
from tests.report.sample_runs import a_task

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
def tasks() -> list[Task]:
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


def live(
    folder: Path, tasks: list[Task], reserved: Reserved | None = None
) -> LiveBytes | None:
    lists = {name: folder / f"{name}.in" for name in ("in", "one", "all")}
    placement = read_note(folder / "bb/placement.json")
    return live_on_shared(folder, placement, lists, tasks, reserved)


def test_a_file_counts_from_its_start_to_the_end_of_its_removal(
    folder: Path, tasks: list[Task]
) -> None:
    steps = ((10.0, 100), (11.0, 130), (13.0, 180), (14.0, 80), (21.0, 0))
    assert live(folder, tasks) == LiveBytes(steps, 4096, 0)


def test_a_release_ends_all_that_was_on_it(folder: Path, tasks: list[Task]) -> None:
    found = live(folder, tasks, Reserved(4096, since=9.0, until=15.5))
    assert found is not None
    assert found.steps[-2:] == ((14.0, 80), (15.5, 0))
    assert found.reserved == ((9.0, 4096), (15.5, 0))


class JobReservations:
    """What a run in mode transient has left in bb/."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bb/nodes").mkdir(parents=True)
        (folder / "bb/stage_out").mkdir()
        sizes = {"in": 100, "ref": 10, "mid": 5, "out": None}
        files = {name: {"size": size} for name, size in sizes.items()}
        note(folder / "bb/placement.json", {"files": files})

    def of_job(
        self, node: str, came: list[str], made: list[str], since: float, **outcome: Any
    ) -> None:
        lists = {"stage_in": came, "stage_out": made, "read": ["x"], "share": []}
        own = {"capacity": 1000, **lists}
        note(self.folder / f"bb/nodes/{node}.json", {"reservation": own})
        outcome = {"since": since, "time": 20.0, "files": {}, **outcome}
        note(self.folder / f"bb/stage_out/{node}.json", outcome)

    def live(self, *tasks: Task, backend: str = "directory") -> LiveBytes | None:
        note(self.folder / "bb/transient.json", {"backend": backend})
        found = reservations(self.folder, [NodeTimes("a", ended=45.0)])
        placement = read_note(self.folder / "bb/placement.json")
        return live_on_jobs(placement, tasks, found)


@pytest.fixture
def jobs(tmp_path: Path) -> JobReservations:
    return JobReservations(tmp_path)


def test_a_file_counts_on_every_job_reservation_that_has_it(
    jobs: JobReservations,
) -> None:
    jobs.of_job("a", ["in", "ref"], ["mid"], 10.0)
    jobs.of_job("b", ["ref", "mid"], [], 15.0, time=30.0)
    found = jobs.live(a_task(node="a", start=12.0), a_task(node="b", start=16.0))
    assert found == LiveBytes(
        steps=((10.0, 110), (12.0, 115), (15.0, 130), (20.0, 15), (30.0, 0)),
        capacity=2000,
        unknown=0,
        reserved=((10.0, 1000), (15.0, 2000), (20.0, 1000), (30.0, 0)),
    )
