"""The rows of a figure: one unit for each axis, one text for each number."""

from __future__ import annotations

import pytest

from pegasus_bb.page.dataset import Column, Dataset


@pytest.mark.parametrize(
    ("highest", "unit", "name"),
    [
        pytest.param(0.000004, "s", "\u00b5s", id="microseconds"),
        (47.0, "s", "s"),
        (150.0, "s", "s"),
        (200.0, "s", "min"),
        (4 * 3600.0, "s", "h"),
        (0.0, "s", "s"),
        (41 << 20, "B", "MiB"),
        (1 << 80, "B", "PiB"),
        (5 << 30, "B/s", "GiB/s"),
        (3.0, "ratio", "ratio"),
    ],
)
def test_an_axis_has_the_unit_that_fits_its_largest_value(
    highest: float, unit: str, name: str
) -> None:
    data = Dataset((Column("x", "x", unit),), [{"x": highest}, {"x": None}])
    assert data.unit("x").name == name


def test_columns_of_one_axis_have_one_unit() -> None:
    columns = Column("mean", "mean", "s"), Column("error", "error", "s", axis="mean")
    (row,) = Dataset(columns, [{"mean": 600.0, "error": 6.0}]).records()
    assert (row["mean"], row["error"]) == (10.0, pytest.approx(0.1))
    assert (row["mean_text"], row["error_text"]) == ("10 min 00 s", "6 s")


def test_an_unmeasured_value_is_unknown_and_not_drawn() -> None:
    data = Dataset((Column("name", "name"), Column("x", "x", "s")), [{"name": "a"}])
    assert data.records() == [{"name": "a", "name_text": "a", "x_text": "unknown"}]
