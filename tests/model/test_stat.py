"""Means and errors that never say more than was measured."""

from __future__ import annotations

import pytest

from pegasus_bb.model.stat import Pair, Stat, stat, total


@pytest.mark.parametrize(
    ("values", "found"),
    [
        # The deviation of 2, 4, 6 is 2; its error is over the root of three runs.
        ([2.0, 4.0, 6.0], Stat(4.0, pytest.approx(2 / 3**0.5), 3)),
        ([7.0], Stat(7.0, None, 1)),
        ([None, 3.0], Stat(3.0, None, 1)),
        ([None, None], None),
        ([], None),
    ],
)
def test_the_mean_of_those_that_know_with_its_standard_error(
    values: list[float | None], found: Stat | None
) -> None:
    assert stat(values) == found


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


@pytest.mark.parametrize(
    ("pfs", "bb", "ratio"),
    [
        *(([6.0], [2.0], 3.0), ([1.0], [0.0], None), ([0.0], [1.0], None)),
        *(([], [1.0], None), ([1.0], [], None)),
    ],
)
def test_the_ratio_is_pfs_to_bb(
    pfs: list[float], bb: list[float], ratio: float | None
) -> None:
    assert Pair(stat(pfs), stat(bb)).ratio == ratio


@pytest.mark.parametrize(
    ("pfs", "bb", "beyond"),
    [
        ([10.0, 12.0], [9.0, 11.0], False),
        ([20.0, 22.0], [9.0, 11.0], True),
        ([20.0], [9.0, 11.0], None),  # the scatter of one run is unknown
        ([], [9.0, 11.0], None),
    ],
)
def test_a_difference_must_be_twice_its_error_to_count(
    pfs: list[float], bb: list[float], beyond: bool | None
) -> None:
    assert Pair(stat(pfs), stat(bb)).beyond_error is beyond
