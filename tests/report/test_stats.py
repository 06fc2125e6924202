"""Sums and ratios that never divide by zero."""

from __future__ import annotations

import pytest

from pegasus_bb.model.stat import stat
from pegasus_bb.report.stats import Pair, total


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
