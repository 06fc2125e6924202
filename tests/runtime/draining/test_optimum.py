"""Pacing against the taut string; benchmarks/draining_optimum.py takes more seeds."""

from __future__ import annotations

from benchmarks.draining_optimum import share_in_time, times_optimum
from benchmarks.draining_unknown import times_optimum_alone, together


def test_with_known_times_the_peak_is_nearly_the_least() -> None:
    assert max(times_optimum(seed) for seed in range(10)) <= 1.05


def test_with_learned_intervals_that_differ_by_30_percent_it_is_not_far() -> None:
    assert max(times_optimum_alone(seed) for seed in (5, 24, 26)) <= 1.4


def test_a_shared_limit_keeps_the_peak_and_nearly_all_deadlines() -> None:
    peak, in_time = together(0)
    assert peak <= 1.5
    assert in_time >= 0.99
    assert share_in_time(0) >= 0.99
