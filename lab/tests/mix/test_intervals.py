"""How often to write a checkpoint."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegasus_bb_lab.mix.intervals import daly, young

HOUR = 3600.0


def expected_time(pause: float, dump: float, mtti: float) -> float:
    """Of one second of computing, without restarts (Daly 2006, eq. 20)."""
    return mtti * math.expm1((pause + dump) / mtti) / pause


def test_young_by_hand() -> None:
    assert young(300, 24 * HOUR) == pytest.approx(7200)


def test_with_checkpoints_as_long_as_the_faults_are_apart_daly_waits_for_a_fault() -> (
    None
):
    assert daly(2 * HOUR, HOUR) == HOUR


@given(st.floats(1, 1000), st.floats(2000, 1e7))
def test_no_interval_is_much_better_than_dalys(dump: float, mtti: float) -> None:
    best = min(
        expected_time(daly(dump, mtti) * factor / 100, dump, mtti)
        for factor in range(50, 200)
    )
    assert expected_time(daly(dump, mtti), dump, mtti) <= 1.001 * best
