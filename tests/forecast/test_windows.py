"""Windows of dumps: one after the other, in time, and at the lowest peak there is."""

from __future__ import annotations

from itertools import pairwise
from math import ulp

from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.forecast.drain_windows import windows

DUE = 100.0
ROUNDING = 4 * ulp(DUE)  # of the length of a window, which may be a part of a ms
DUMPS = st.lists(
    st.tuples(st.floats(0, 1.2 * DUE), st.integers(0, 10**12)), min_size=1, max_size=30
)


@given(DUMPS)
def test_windows_follow_each_other_in_time(dumps: list[tuple[float, int]]) -> None:
    found = windows(dumps, DUE)
    with_time = [w for w in found if w.end > w.begin]
    for window, (made, _) in zip(found, dumps, strict=True):
        assert window.made == made
        assert made <= window.begin <= window.end <= max(DUE, made) + 1e-6
    for one, other in pairwise(sorted(with_time, key=lambda w: w.begin)):
        assert other.begin >= one.end - 1e-6


@given(DUMPS)
def test_no_draining_in_time_has_a_lower_peak(dumps: list[tuple[float, int]]) -> None:
    """What is made from some moment on has to go between that moment and the end."""
    timed = [(made, size) for made, size in dumps if made < DUE - 1e-3 and size]
    found = windows(timed, DUE)
    bounds = [
        sum(size for made, size in timed if made >= since) / (DUE - since)
        for since, _ in timed
    ]
    peak = max(bounds, default=0)
    passed = [
        (size, peak * (window.end - window.begin), peak * ROUNDING)
        for (_, size), window in zip(timed, found, strict=True)
    ]
    assert all(size <= most * (1 + 1e-6) + more for size, most, more in passed)
    assert not passed or any(
        size >= most * (1 - 1e-6) - more for size, most, more in passed
    )
