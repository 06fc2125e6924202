"""The chart of live bytes, on the shared reservation and on those of single jobs."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.page.live import live
from pegasus_bb.report import to_document
from tests.page.comparisons import a_comparison


@pytest.fixture
def document() -> dict[str, Any]:
    return to_document(a_comparison())


def drawn(document: dict[str, Any], key: str) -> list[list[tuple[float, float]]]:
    """For each chart the points (seconds, MiB) of that line."""
    charts = [chart.spec["datasets"]["steps"] for chart in live(document).charts]
    return [[(r["at"], r[key]) for r in rows if key in r] for rows in charts]


def test_both_charts_have_the_same_time_axis(document: dict[str, Any]) -> None:
    found = live(document)
    shared, single = (chart.spec["layer"][0]["encoding"]["x"] for chart in found.charts)
    assert shared["scale"] == single["scale"] == {"domain": [0, 43.75]}
    assert "At most 40.0 MiB on the reservation of all jobs and 9.0 MiB" in found.about
    assert "1 file on the reservation of all jobs" in found.about


@pytest.mark.parametrize("key", ["live", "live_rooms"])
def test_an_unknown_part_is_not_drawn(document: dict[str, Any], key: str) -> None:
    for run in document["runs"]["bb"]:
        run[key] = None
    assert len(live(document).charts) == 1


def test_the_reserved_bytes_end_with_the_reservation(document: dict[str, Any]) -> None:
    shared, single = drawn(document, "reserved")
    assert shared == [(3.0, 0.0), (3.0, 64.0), (43.75, 0.0), (43.75, 0.0)]
    assert [size for _, size in single] == [0.0, 10.0, 20.0, 0.0, 0.0]


def test_a_reservation_that_is_held_goes_on_to_the_end(
    document: dict[str, Any],
) -> None:
    run = document["runs"]["bb"][0]
    run["live"]["reserved"] = run["live"]["reserved"][:1]
    shared, _ = drawn(document, "reserved")
    assert shared[-1] == (43.75, 64.0)


def test_without_times_the_capacity_is_a_line_over_all(
    document: dict[str, Any],
) -> None:
    document["runs"]["bb"][0]["live"]["reserved"] = []
    shared, _ = drawn(document, "reserved")
    assert shared[1:] == [(0.0, 64.0), (43.75, 64.0)]


def test_a_reservation_from_before_the_run_begins_at_zero(
    document: dict[str, Any],
) -> None:
    document["runs"]["bb"][0]["live"]["reserved"][0][0] = -30.0
    shared, _ = drawn(document, "reserved")
    assert shared[:2] == [(0.0, 0.0), (0.0, 64.0)]
