"""How often to write a checkpoint."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegasus_bb_lab.mix.intervals import daly, interval, segment, young
from pegasus_bb_lab.model.mix import DALY, YOUNG

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


def test_rules_by_name() -> None:
    assert interval(YOUNG, 300, 24 * HOUR) == young(300, 24 * HOUR)
    assert interval(DALY, 300, 24 * HOUR) == daly(300, 24 * HOUR)
    assert interval(1800.0, 300, 24 * HOUR) == 1800
    assert interval(DALY, 300, math.inf) == math.inf


def test_a_job_divides_its_wall_time_evenly() -> None:
    """24 hours are three times 7.9 hours and a checkpoint, near to the optimum."""
    pause = segment(DALY, 360, 300 * HOUR, 24 * HOUR)
    assert pause == pytest.approx(7.9 * HOUR)
    assert pause == pytest.approx(daly(360, 300 * HOUR), rel=0.05)


def test_without_faults_there_is_one_checkpoint_at_the_end() -> None:
    assert segment(DALY, 300, math.inf, 24 * HOUR) == 24 * HOUR - 300


def test_an_interval_in_seconds_is_kept() -> None:
    assert segment(1800.0, 300, HOUR, 24 * HOUR) == 1800
    assert segment(1800.0, 300, HOUR, 1000) == 700


def test_a_job_with_little_left_overruns_by_an_interval_at_most() -> None:
    assert segment(1800.0, 300, HOUR, 100, least=600) == 600
    assert segment(1800.0, 300, HOUR, 100, least=9000) == 1800
    assert segment(DALY, 360, 300 * HOUR, 100, least=600) == 600
