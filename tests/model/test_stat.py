"""Means and errors that never say more than was measured."""

from __future__ import annotations

import pytest

from pegasus_bb.model.stat import Pair, Stat, stat, total


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


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    assert total([1.0, 2.0]) == 3.0
    assert total([1.0, None]) is None
    assert total([]) is None


def test_the_ratio_is_pfs_to_bb() -> None:
    assert Pair(stat([6.0]), stat([2.0])).ratio == 3.0


@pytest.mark.parametrize(
    ("pfs", "bb"),
    [([1.0], [0.0]), ([0.0], [0.0]), ([], [1.0]), ([1.0], []), ([], [])],
)
def test_where_there_is_nothing_to_divide_by_there_is_no_ratio(
    pfs: list[float], bb: list[float]
) -> None:
    assert Pair(stat(pfs), stat(bb)).ratio is None


def test_a_difference_must_be_twice_its_error_to_count() -> None:
    near = Pair(stat([10.0, 12.0]), stat([9.0, 11.0]))
    far = Pair(stat([20.0, 22.0]), stat([9.0, 11.0]))

    assert near.beyond_error is False
    assert far.beyond_error is True


def test_with_one_run_nobody_knows_whether_a_difference_counts() -> None:
    assert Pair(stat([20.0]), stat([9.0, 11.0])).beyond_error is None
    assert Pair(None, stat([9.0, 11.0])).beyond_error is None
