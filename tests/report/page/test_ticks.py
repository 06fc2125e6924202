"""The axis of bytes has the units of the text."""

from __future__ import annotations

import altair as alt
import pytest

from pegasus_bb.report.compare import compare
from pegasus_bb.report.page.charts import draw, over_time
from pegasus_bb.report.page.figure import Dataset
from pegasus_bb.report.page.footprint_figure import footprint
from pegasus_bb.report.page.ticks import byte_axis, log_byte_axis
from tests.report.made import a_run, a_task

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


def test_a_rate_is_per_second() -> None:
    axis = byte_axis(alt.Y, "rate", 3 * MIB, "/s").to_dict()["axis"]
    assert axis["labelExpr"].endswith("' MiB/s'")


@pytest.mark.parametrize(("least", "most"), [(1, 64), (300, 5 * GIB), (KIB, 1 << 50)])
def test_steps_of_a_logarithm_are_powers_of_two(least: int, most: int) -> None:
    found = log_byte_axis(alt.X, "size", least, most, "bytes").to_dict()
    values = found["axis"]["values"]
    assert 3 <= len(values) <= 7
    assert all(value & (value - 1) == 0 for value in map(int, values))
    assert "MiB" in found["axis"]["labelExpr"]


@pytest.mark.parametrize("largest", [2, 1000])
def test_the_axis_of_footprints_names_its_unit(largest: int) -> None:
    tasks = [a_task(node=f"n{n}", job=f"J{n}", wchar=n * MIB) for n in (1, largest)]
    for chart in footprint(compare([a_run(*tasks)], [])).charts:
        x = chart.spec["encoding"]["x"]
        assert x["title"] == "bytes read and written"
        assert "MiB" in x["axis"]["labelExpr"]


@pytest.mark.parametrize(
    ("end", "title", "ticks"),
    [
        (0.5, "seconds", [0, 0.25, 0.5]),
        (4.2, "seconds", [0, 1, 2, 3, 4]),
        (10, "seconds", [0, 2, 4, 6, 8, 10]),
        (119, "seconds", [0, 30, 60, 90]),
        (700, "min:s", [0, 300, 600]),
        (20_000, "hours:min:s", [0, 7200, 14400]),
        (9e5, "hours:min:s", [0, 259200, 518400, 777600]),
    ],
)
def test_a_time_axis_has_few_ticks_and_the_unit_of_the_run(
    end: float, title: str, ticks: list[float]
) -> None:
    data = Dataset((), [{"at": end}])
    x = over_time(draw(data).mark_point(), end, "at").to_dict()["encoding"]["x"]
    assert (x["title"], x["axis"]["values"]) == (title, ticks)
