"""Means and errors that never say more than was measured."""

from __future__ import annotations

import pytest

from pegasus_bb.model.mean_and_error import Pair, Stat, stat


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
    ("pfs", "bb", "ratio"),
    [
        ([6.0], [2.0], 3.0),
        ([1.0], [0.0], None),
        ([0.0], [1.0], None),
        ([], [1.0], None),
        ([1.0], [], None),
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
def test_a_difference_must_be_more_than_chance_to_count(
    pfs: list[float], bb: list[float], beyond: bool | None
) -> None:
    assert Pair(stat(pfs), stat(bb)).beyond_error is beyond


def test_the_least_difference_is_that_of_welchs_test() -> None:
    found = Pair(
        stat([1.0, 2.0, 3.0, 4.0]), stat([1.0, 2.0, 3.0, 4.0])
    ).least_difference
    assert found == pytest.approx(2.447 * 0.9129, rel=0.01)  # t of 6 degrees of freedom
    many = [float(n % 2) for n in range(1000)]
    normal = Pair(stat(many), stat(many))
    almost_normal = pytest.approx(1.961 * normal.difference_error, rel=1e-4)
    assert normal.least_difference == almost_normal
    assert Pair(stat([1.0, 1.0]), stat([2.0, 2.0])).beyond_error is True
