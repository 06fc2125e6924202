"""Confidence over seeds, and differences that are none."""

from __future__ import annotations

import random

import pytest
from pegasus_bb_lab.mix.paired import difference, estimate, student


def test_one_seed_says_nothing_of_chance() -> None:
    found = estimate([5.0])
    assert found is not None
    assert (found.half, found.told_apart) == (None, None)
    assert estimate([]) is None
    assert estimate([None]) is None


def test_a_difference_inside_its_interval_is_none() -> None:
    found = difference([1.0, 2.0, 3.0, 4.5], [2.0, 1.0, 4.0, 3.0])
    assert found is not None
    assert not found.told_apart
    same = difference([1.0, 2.0], [1.0, 2.0])
    assert same is not None
    assert not same.told_apart


@pytest.mark.parametrize(
    ("freedom", "t"), [(1, 12.706), (9, 2.262), (30, 2.042), (49, 2.010), (999, 1.962)]
)
def test_quantiles_of_student(freedom: int, t: float) -> None:
    assert student(freedom) == pytest.approx(t, abs=1e-3)


def test_the_interval_holds_the_truth_in_95_of_100_cases() -> None:
    rng, held = random.Random(1), 0
    for _ in range(1000):
        found = estimate([rng.gauss(7, 2) for _ in range(5)])
        assert found is not None
        assert found.half is not None
        held += abs(found.mean - 7) <= found.half
    assert 930 <= held <= 970
