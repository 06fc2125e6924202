"""How much a run had reserved, by its notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.run import NodeTimes
from pegasus_bb.report.reserved import reservations

GIB = 1 << 30
HOUR = 3600.0


class Notes:
    """The notes of a run in bb/; times are in hours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, data: Any) -> None:
        file = self.folder / "bb" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data))

    def shared(self, size: int, begun: float, ended: float | None, **more: Any) -> None:
        released = None if ended is None else ended * HOUR
        self.write("reservation.json", {"size": size, "released_at": released})
        ready = {"created": begun * HOUR, "time": begun * HOUR + 10}
        self.write("ready.json", {**ready, **more})

    def of_job(self, node: str, size: int, begun: float, ended: float) -> None:
        self.write(f"nodes/{node}.json", {"reservation": {"capacity": size}})
        times = {"since": begun * HOUR, "time": ended * HOUR}
        self.write(f"stage_out/{node}.json", times)

    def byte_hours(self, *nodes: NodeTimes) -> float | None:
        return reservations(self.folder, nodes).byte_hours


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


def test_a_shared_one_counts_from_its_creation_to_its_end(notes: Notes) -> None:
    assert notes.byte_hours() is None
    notes.shared(2 * GIB, 1, 4)
    assert notes.byte_hours() == 6 * GIB


@pytest.mark.parametrize(
    ("backend", "expected"),
    [("directory", 3 * GIB), ("datawarp", 6 * GIB), ("node-local", None)],
)
def test_those_of_jobs_end_as_their_backend_ends_them(
    notes: Notes, backend: str, expected: float | None
) -> None:
    notes.write("transient.json", {"backend": backend})
    notes.of_job("a", GIB, 1, 2)
    notes.of_job("b", 4 * GIB, 1, 1.5)
    notes.of_job("on_pfs", GIB, 0, 2)
    notes.write("nodes/never_ran.json", {"reservation": {"capacity": GIB}})
    assert notes.byte_hours(NodeTimes("a", ended=5 * HOUR)) == expected


def test_disks_of_nodes_cost_what_their_price_says(notes: Notes) -> None:
    notes.of_job("a", 3 * GIB, 1, 2)
    notes.of_job("b", 4 * GIB, 1, 1.5)
    for settings, cost in (({}, None), ({"price": "0.02"}, 0.1)):
        notes.write("transient.json", {"backend": "node-local", "settings": settings})
        found = reservations(notes.folder, ()).cost
        assert found == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize("name", ["reservation.json", "ready.json", "transient.json"])
def test_a_damaged_note_is_no_zero(notes: Notes, name: str) -> None:
    notes.shared(GIB, 1, 2)
    (notes.folder / "bb" / name).write_text("{")
    assert notes.byte_hours() is None
