"""The axis of bytes has the units of the text."""

from __future__ import annotations

import altair as alt
import pytest

from pegasus_bb.report.page.ticks import byte_axis

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("highest", "unit", "ticks"),
    [
        (0, "B", [0]),
        (7, "B", [0, 2, 4, 6]),
        (80 * MIB, "MiB", [n * 20 * MIB for n in range(5)]),
        (1.1 * GIB, "GiB", [n * 0.2 * GIB for n in range(6)]),
        (1000 * KIB, "KiB", [n * 200 * KIB for n in range(6)]),
        (1 << 62, "PiB", None),
    ],
)
def test_ticks_are_round_numbers_of_a_binary_unit(
    highest: float, unit: str, ticks: list[float] | None
) -> None:
    axis = byte_axis(alt.Y, "size", highest).to_dict()["axis"]
    assert f"' {unit}'" in axis["labelExpr"]
    assert len(axis["values"]) < 8
    if ticks is not None:
        assert axis["values"] == pytest.approx(ticks)
