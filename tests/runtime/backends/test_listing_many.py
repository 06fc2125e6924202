"""A listing of many: the text that a real Slurm gave, and how often it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.datawarp import DataWarp
from tests.support.backend_contract import REQUEST
from tests.support.datawarp_bench import bench, play

__all__ = ["bench"]
RECORDED = Path(__file__).parents[2] / "recorded" / "slurm-24.11"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    burst = tmp_path / "burst"
    burst.write_text((RECORDED / "show-burst.two-persistent.txt").read_text())
    play("scontrol", f"cat {burst}", tmp_path, monkeypatch)
    play("squeue", "true", tmp_path, monkeypatch)
    return burst


@pytest.mark.parametrize(("uid", "own"), [(1000, True), (1001, False)])
def test_the_rows_of_a_real_slurm(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, uid: int, own: bool
) -> None:
    monkeypatch.setattr("os.getuid", lambda: uid)
    csb = REQUEST._replace(name="csb", capacity=700 * MIB)
    larger = REQUEST._replace(name="csb2", capacity=700 * MIB)
    found = DataWarp({}).list_reservations([csb, larger, REQUEST])
    state = State.READY if own else State.FAILED
    states = [state, State.FAILED, State.ABSENT]
    assert [status.state for status in found.statuses] == states
    assert [(row.name, row.own) for row in found.rows] == [("csb2", own), ("csb", own)]
    assert [row.status.size for row in found.rows] == [500 * MIB, 700 * MIB]
