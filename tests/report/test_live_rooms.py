"""How many bytes were on the reservations of single jobs, over the time of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.run import FileUse, LiveBytes, NodeTimes, Task
from pegasus_bb.report.live_rooms import live_rooms
from pegasus_bb.report.reserved import reservations

MakeTask = Callable[..., Task]


class Rooms:
    """What a run in mode transient has left in bb/."""

    def __init__(self, folder: Path, backend: str = "directory") -> None:
        self.folder = folder
        self.note("transient.json", {"backend": backend})
        sizes = {"in": 100, "ref": 10, "mid": 5, "out": None}
        self.note(
            "placement.json", {"files": {n: {"size": s} for n, s in sizes.items()}}
        )

    def note(self, name: str, data: dict[str, Any]) -> None:
        file = self.folder / "bb" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data))

    def room(
        self, node: str, came: list[str], made: list[str], since: float, **said: Any
    ) -> None:
        asked = {"stage_in": came, "stage_out": made, "read": ["x"], "write": ["y"]}
        own = {"capacity": 1000, **asked, "share": []}
        self.note(f"nodes/{node}.json", {"reservation": own})
        self.note(f"stage_out/{node}.json", {"since": since, "files": {}, **said})

    def live(self, *tasks: Task, nodes: tuple[NodeTimes, ...] = ()) -> LiveBytes | None:
        held = reservations(self.folder, nodes)
        assert held is not None
        return live_rooms(self.folder, tasks, held)


@pytest.fixture
def rooms(tmp_path: Path) -> Rooms:
    return Rooms(tmp_path)


def test_each_file_counts_in_every_room_that_it_is_in(
    rooms: Rooms, a_task: MakeTask
) -> None:
    rooms.room("a", ["in", "ref"], ["mid"], 10.0, time=20.0)
    rooms.room("b", ["ref", "mid"], [], 15.0, time=30.0)
    found = rooms.live(a_task(node="a", start=12.0), a_task(node="b", start=16.0))
    assert found == LiveBytes(
        steps=((10.0, 110), (12.0, 115), (15.0, 130), (20.0, 15), (30.0, 0)),
        capacity=2000,
        unknown=0,
        reserved=((10.0, 1000), (15.0, 2000), (20.0, 1000), (30.0, 0)),
    )


def test_a_result_is_as_large_as_launch_has_noted(
    rooms: Rooms, a_task: MakeTask
) -> None:
    rooms.room("a", [], ["out"], 10.0, time=20.0, files={"out": {"size": 77}})
    found = rooms.live(a_task(node="a", start=10.0))
    assert found is not None
    assert (found.steps, found.unknown) == (((10.0, 77), (20.0, 0)), 0)


def test_what_stays_in_the_run_is_as_large_as_its_record_says(
    rooms: Rooms, a_task: MakeTask
) -> None:
    rooms.room("a", [], ["out"], 10.0, time=20.0)
    seen = FileUse("out", "out", size=33, output=True)
    found = rooms.live(a_task(node="a", start=10.0, files=(seen,)))
    assert found is not None
    assert found.steps[0] == (10.0, 33)


def test_a_size_that_nobody_knows_is_told_and_is_no_zero(
    rooms: Rooms, a_task: MakeTask
) -> None:
    rooms.room("a", ["in"], ["out"], 10.0, time=20.0)
    found = rooms.live(a_task(node="a", start=10.0))
    assert found is not None
    assert (found.steps, found.unknown) == (((10.0, 100), (20.0, 0)), 1)


def test_of_a_task_that_failed_only_what_was_brought_is_known(
    rooms: Rooms, a_task: MakeTask
) -> None:
    rooms.room("a", ["in"], ["mid"], 10.0, time=20.0, status=1)
    found = rooms.live(a_task(node="a", start=10.0, exit_code=1))
    assert found is not None
    assert found.steps == ((10.0, 100), (20.0, 0))


def test_under_datawarp_files_are_there_until_they_are_back(
    tmp_path: Path, a_task: MakeTask
) -> None:
    rooms = Rooms(tmp_path, "datawarp")
    rooms.room("a", ["in"], [], 10.0, time=20.0)
    found = rooms.live(a_task(node="a"), nodes=(NodeTimes("a", ended=45.0),))
    assert found is not None
    assert found.reserved == ((10.0, 1000), (45.0, 0))


def test_on_disks_of_nodes_bytes_live_and_nothing_is_reserved(
    tmp_path: Path, a_task: MakeTask
) -> None:
    rooms = Rooms(tmp_path, "node-local")
    rooms.room("a", ["in"], [], 10.0, time=20.0)
    found = rooms.live(a_task(node="a"))
    assert found is not None
    assert (found.steps, found.capacity, found.reserved) == (
        ((10.0, 100), (20.0, 0)),
        None,
        (),
    )


def test_a_job_that_worked_on_the_pfs_had_nothing_on_the_tier(
    rooms: Rooms, a_task: MakeTask
) -> None:
    rooms.room("a", ["in"], [], 0.0, time=20.0)
    assert rooms.live(a_task(node="a")) is None
