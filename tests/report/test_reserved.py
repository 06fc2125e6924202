"""How much a run had reserved, from what it has noted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.run import NodeTimes
from pegasus_bb.report.reserved import reservations

GIB = 1 << 30
HOUR = 3600.0


class Notes:
    """What a run has left in bb/."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("plan.json", {"version": 1})

    def write(self, name: str, data: Any) -> None:
        file = self.folder / "bb" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data))

    def shared(self, size: int, begun: float, ended: float | None, **more: Any) -> None:
        known = {"name": "pbb1", "size": size, "released_at": ended}
        self.write("reservation.json", {**known, "requested_at": begun - HOUR})
        self.write("ready.json", {"created": begun, "time": begun + 10, **more})

    def room(self, node: str, size: int, begun: float, ended: float) -> None:
        self.write(f"nodes/{node}.json", {"reservation": {"capacity": size}})
        self.write(f"stage_out/{node}.json", {"since": begun, "time": ended})


def byte_hours(folder: Path, nodes: Iterable[NodeTimes]) -> float | None:
    found = reservations(folder, nodes)
    return found.byte_hours if found else None


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


def test_a_shared_one_from_its_creation_to_its_end(notes: Notes) -> None:
    notes.shared(2 * GIB, 0.0 + HOUR, 4 * HOUR)
    assert byte_hours(notes.folder, ()) == 6 * GIB


def test_where_the_scheduler_does_not_tell_from_the_gate_s_answer(notes: Notes) -> None:
    notes.shared(GIB, HOUR, 2 * HOUR + 10, created=0)
    assert byte_hours(notes.folder, ()) == GIB


def test_one_that_is_still_held_has_no_figure_yet(notes: Notes) -> None:
    notes.shared(GIB, HOUR, None)
    assert byte_hours(notes.folder, ()) is None


def test_on_disks_of_nodes_nothing_is_reserved(notes: Notes) -> None:
    notes.write("transient.json", {"backend": "node-local"})
    notes.room("work_A", GIB, HOUR, 2 * HOUR)
    assert byte_hours(notes.folder, ()) is None


def test_rooms_until_their_results_were_noted(notes: Notes) -> None:
    notes.write("transient.json", {"backend": "directory"})
    notes.room("a", GIB, HOUR, 2 * HOUR)
    notes.room("b", 4 * GIB, HOUR, 1.5 * HOUR)
    notes.write("jobs/never_ran.json", {"capacity": GIB})
    assert byte_hours(notes.folder, ()) == 3 * GIB


def test_under_datawarp_until_they_were_back(notes: Notes) -> None:
    notes.write("transient.json", {"backend": "datawarp"})
    notes.room("a", GIB, HOUR, 2 * HOUR)
    assert byte_hours(notes.folder, [NodeTimes("a", ended=5 * HOUR)]) == 4 * GIB


def test_both_together(notes: Notes) -> None:
    notes.shared(2 * GIB, HOUR, 3 * HOUR)
    notes.write("transient.json", {"backend": "directory"})
    notes.room("a", GIB, HOUR, 2 * HOUR)
    assert byte_hours(notes.folder, ()) == 5 * GIB


def test_a_job_that_worked_on_the_pfs_has_reserved_nothing(notes: Notes) -> None:
    notes.write("transient.json", {"backend": "directory"})
    notes.room("a", GIB, 0.0, 2 * HOUR)
    assert byte_hours(notes.folder, ()) is None


def test_a_run_without_reservations_has_none(notes: Notes) -> None:
    assert byte_hours(notes.folder, ()) is None


def test_notes_that_cannot_be_read_are_no_zero(notes: Notes) -> None:
    notes.shared(GIB, HOUR, 2 * HOUR)
    (notes.folder / "bb/reservation.json").write_text("{")
    assert byte_hours(notes.folder, ()) is None
