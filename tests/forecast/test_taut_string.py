"""No way through a corridor has a lower peak than the taut string."""

from __future__ import annotations

from itertools import accumulate, combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.forecast.drain_windows import Gap, Point, peak, slope, taut_string

_steps = st.tuples(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9))


@st.composite
def corridors(draw: st.DrawFn) -> list[Gap]:
    """Both walls rise, and end in one point."""
    steps = draw(st.lists(_steps, min_size=1, max_size=12))
    times, lows, highs = (list(accumulate(each)) for each in zip(*steps, strict=True))
    gaps = [
        Gap(time, min(low, high), high)
        for time, low, high in zip(times, lows, highs, strict=True)
    ]
    return [*gaps, Gap(times[-1] + draw(st.integers(1, 9)), highs[-1], highs[-1])]


def steepest_needed(gaps: list[Gap]) -> float:
    """By brute force: from every upper wall to every later lower wall."""
    walls = [Gap(0, 0, 0), *gaps]
    needed = ((b.low - a.high) / (b.time - a.time) for a, b in combinations(walls, 2))
    return max(0.0, *needed)


def at(corners: list[Point], time: float) -> float:
    start, end = next(pair for pair in pairwise(corners) if time <= pair[1][0])
    return start[1] + slope(start, end) * (time - start[0])


@given(corridors())
def test_the_peak_of_the_string_is_what_brute_force_finds(gaps: list[Gap]) -> None:
    assert peak(taut_string(gaps)) == pytest.approx(steepest_needed(gaps))
