"""Means and errors that never say more than was measured."""

from __future__ import annotations

import pytest

from pegasus_bb.model.stat import Stat, stat


def test_repetitions_give_a_mean_and_its_standard_error() -> None:
    # Deviation of 2, 4, 6 is 2; over the root of three runs.
    assert stat([2.0, 4.0, 6.0]) == Stat(4.0, pytest.approx(2 / 3**0.5), 3)


def test_one_run_says_nothing_of_the_error() -> None:
    assert stat([7.0]) == Stat(7.0, None, 1)


def test_runs_that_do_not_know_are_left_out_and_counted_out() -> None:
    assert stat([None, 3.0]) == Stat(3.0, None, 1)
    assert stat([None, None]) is None
    assert stat([]) is None


@pytest.mark.parametrize(
    ("values", "share"),
    [([4.0], None), ([0.0, 0.0], None), ([3.0, 5.0], 0.25), ([4.0, 4.0], 0.0)],
)
def test_the_error_as_a_part_of_the_mean(
    values: list[float], share: float | None
) -> None:
    found = stat(values)
    assert found is not None and found.share == share
