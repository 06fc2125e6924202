"""Where the stripes of a checkpoint go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegasus_bb_lab.mix.stripes import Counts, Stripes
from pegasus_bb_lab.model.machine import LEAST_LOADED, PLACEMENTS, RANDOM, ROUND_ROBIN

NONE = np.zeros(50, np.int64)
ALL = np.ones(50, np.bool_)


def placed(placement: str, stripes: int, seed: int = 0) -> Counts:
    return Stripes(placement, np.random.default_rng(seed)).place(stripes, ALL, NONE)


@given(
    st.sampled_from(PLACEMENTS),
    st.integers(1, 200),
    st.lists(st.booleans(), min_size=1, max_size=20).filter(any),
)
def test_every_stripe_is_on_a_node_that_is_up(
    placement: str, stripes: int, up: list[bool]
) -> None:
    load = np.arange(len(up))
    rng = np.random.default_rng(0)
    found = Stripes(placement, rng).place(stripes, np.array(up), load)
    assert found.sum() == stripes
    assert found.min() >= 0
    assert not found[~np.array(up)].any()


@pytest.mark.parametrize("seed", range(5))
def test_the_less_loaded_of_two_is_nearly_as_even_as_in_turn(seed: int) -> None:
    """5000 stripes on 50 nodes: 100 each, if they are even."""
    assert placed(ROUND_ROBIN, 5000, seed).max() == 100
    assert placed(LEAST_LOADED, 5000, seed).max() <= 103
    assert placed(RANDOM, 5000, seed).max() >= 115
