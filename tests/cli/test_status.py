"""pegasus-bb status: what is said where the notes of a run are not whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.cli.status import reservation_status
from tests.runtime.lifecycle import Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "ledger.jsonl"))
    found = Run(tmp_path)
    assert (found.setup(), found.gate()) == (0, 0)
    Path(found.bb.file("reservation.json")).unlink()
    return found


def test_one_whose_note_is_lost_is_seen_and_nothing_changed(run: Run) -> None:
    found = reservation_status(Path(run.bb.path))
    assert found is not None and found["state"] == "ready"
    assert not run.has("reservation.json")


def test_one_whose_note_is_lost_and_that_is_gone(run: Run) -> None:
    run.vanish()
    found = reservation_status(Path(run.bb.path))
    assert found is not None and found["state"] == "absent"
    assert "was lost" in found["message"]
