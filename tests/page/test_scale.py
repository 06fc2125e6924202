"""Axes: round numbers on them, and nothing beyond their ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.page.scale import Scale, doubling, from_zero, spread

VALUES = st.lists(st.floats(1e-6, 1e17), min_size=1, max_size=9)


def texts(scale: Scale) -> list[str]:
    return [tick.text for tick in scale.ticks]


def test_an_axis_has_round_numbers() -> None:
    assert texts(from_zero([47.0], 0, 100, "s"))[:3] == ["0 s", "10.0 s", "20.0 s"]
    sizes = texts(from_zero([41 << 20], 0, 100, "B"))
    assert sizes == ["0 B", "16.0 MiB", "32.0 MiB", "48.0 MiB"]
    assert texts(doubling([1, 4, 16], 0, 100, "")) == ["1", "2", "4", "8", "16"]


def test_many_magnitudes_are_drawn_logarithmically() -> None:
    assert spread([1.0, 40.0], 0, 100, "s").base == 0
    wide = spread([1 << 10, 1 << 30], 0, 100, "B")
    assert wide.at(1 << 20) == pytest.approx(50)


@pytest.mark.parametrize("unit", ["s", "B", "B/s"])
@given(values=VALUES)
def test_every_value_is_within_its_axis(values: list[float], unit: str) -> None:
    for make in (from_zero, spread, doubling):
        scale = make(values, 10.0, 90.0, unit)
        assert all(10 <= scale.at(value) <= 90 for value in values)
        places = [tick.at for tick in scale.ticks]
        assert 2 <= len(places) < 12
        assert all(10 <= at <= 90 for at in places)
        assert places == sorted(set(places))


def test_nothing_measured_has_an_axis_still() -> None:
    assert len(from_zero([], 0, 100, "s").ticks) > 1
    assert len(from_zero([0.0], 0, 100, "B").ticks) > 1
