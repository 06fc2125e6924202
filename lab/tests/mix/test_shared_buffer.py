"""Workflows share a buffer: reservations wait for room, jobs for slots."""

from __future__ import annotations

from pathlib import Path

import pytest
from pegasus_bb_lab.mix.shared_buffer import PlannedMember, simulate_members

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.modes import OFF, PERSISTENT, RunMode
from tests.forecast.workflow.planned import MB, fan, planned, speeds

EACH = 1000 * MB  # that a member reserves


def member(
    folder: Path, start: float = 0.0, mode: RunMode = PERSISTENT, slots: int = 100
) -> PlannedMember:
    simulator, placement = planned(folder, fan(3), speeds(slots))
    how = (
        simulator.shared(placement, mode)
        if mode.uses_tier
        else simulator.off(placement)
    )
    return PlannedMember("fan", start, simulator, how)


def test_a_reservation_waits_until_another_is_gone(tmp_path: Path) -> None:
    found = simulate_members([member(tmp_path), member(tmp_path, 10.0)], EACH)
    first, second = found.members
    assert second.waited == pytest.approx(first.makespan - 10.0)
    assert second.makespan == pytest.approx(second.waited + second.alone)
    assert found.peak == EACH


def test_room_for_both_reserves_both(tmp_path: Path) -> None:
    found = simulate_members([member(tmp_path), member(tmp_path)], 2 * EACH)
    assert [each.waited for each in found.members] == [0.0, 0.0]
    assert found.peak == 2 * EACH


def test_members_share_slots(tmp_path: Path) -> None:
    """Each has four jobs of a minute, two levels, on three slots."""
    both = [member(tmp_path, mode=OFF, slots=3) for _ in range(2)]
    first, second = simulate_members(both, 0).members
    assert first.makespan == pytest.approx(first.alone, rel=0.1)
    assert second.makespan > second.alone + 50.0


def test_a_reservation_larger_than_the_buffer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it would wait for ever"):
        simulate_members([member(tmp_path)], EACH - 1)
