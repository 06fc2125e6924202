"""The equations of a target's curve, by which a transfer is paced and simulated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegasus_bb_lab.model.applications import Target
from pegasus_bb_lab.provision.equations import (
    segment_bandwidth,
    segment_seconds,
    serves_all,
)

from pegasus_bb.runtime.draining.curve import LOWER, UPPER, Curve

CURVE = Curve(a=0.693, b=0.163, n_ost=4, stripe=10**6, positioning=0.0055)
SAME = Target(4, 10**6, LOWER, UPPER, 0.693, 0.163, 0.0055)


@given(n_io=st.integers(LOWER, UPPER))
def test_bandwidth_and_time_are_equations_4_and_5(n_io: int) -> None:
    size = n_io * CURVE.stripe
    assert CURVE.bandwidth(n_io) == pytest.approx(segment_bandwidth(SAME, n_io))
    seconds = segment_seconds(SAME, n_io) + SAME.positioning
    assert CURVE.seconds(size) == pytest.approx(seconds)


@given(load=st.floats(0, 6e9))
def test_the_least_stripes_are_those_of_equation_8(load: float) -> None:
    n_io = CURVE.least(load)
    if n_io is None:
        assert not serves_all(SAME, UPPER, load)
    else:
        assert serves_all(SAME, n_io, load)
        assert n_io == LOWER or not serves_all(SAME, n_io - 1, load)
