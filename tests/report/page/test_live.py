"""The chart of live bytes, on the shared reservation and on those of single jobs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pegasus_bb.report.page.live_bytes_figure import live
from pegasus_bb.report.report_document import Comparison
from tests.report.page.comparisons import MIB, a_comparison


@pytest.fixture
def found() -> Comparison:
    return a_comparison()


def with_live(found: Comparison, **changed: Any) -> Comparison:
    """``found``, whose live bytes on the shared reservation are changed."""
    first, *others = found.bb
    assert first.run.live is not None
    run = replace(first.run, live=replace(first.run.live, **changed))
    return replace(found, bb=(replace(first, run=run), *others))


def drawn(found: Comparison, what: str) -> list[list[tuple[float, float]]]:
    """For each chart the points (seconds, MiB) of that line."""
    charts = [chart.spec["datasets"]["rows"] for chart in live(found).charts]
    return [
        [(row["at"], row["size"] / MIB) for row in rows if row["what"] == what]
        for rows in charts
    ]


def test_both_charts_have_the_same_time_axis(found: Comparison) -> None:
    figure = live(found)
    shared, single = (c.spec["encoding"]["x"]["scale"] for c in figure.charts)
    assert shared["domain"] == single["domain"] == [0, 43.75]
    assert "At most 40.0 MiB on the reservation of all jobs and 9.0 MiB" in figure.about
    assert "1 file on the reservation of all jobs" in figure.about


@pytest.mark.parametrize("key", ["live", "live_job_reservations"])
def test_an_unknown_part_is_not_drawn(found: Comparison, key: str) -> None:
    bb = tuple(replace(each, run=replace(each.run, **{key: None})) for each in found.bb)
    assert len(live(replace(found, bb=bb)).charts) == 1


def test_the_reserved_bytes_end_with_the_reservation(found: Comparison) -> None:
    shared, single = drawn(found, "reserved")
    assert shared == [(3.0, 0.0), (3.0, 64.0), (43.75, 0.0), (43.75, 0.0)]
    assert [size for _, size in single] == [0.0, 10.0, 20.0, 0.0, 0.0]


def test_a_reservation_that_is_held_goes_on_to_the_end(found: Comparison) -> None:
    shared, _ = drawn(with_live(found, reserved=((103.0, 64 * MIB),)), "reserved")
    assert shared[-1] == (43.75, 64.0)


def test_without_times_the_capacity_is_a_line_over_all(found: Comparison) -> None:
    shared, _ = drawn(with_live(found, reserved=()), "reserved")
    assert shared[1:] == [(0.0, 64.0), (43.75, 64.0)]


def test_a_reservation_from_before_the_run_begins_at_zero(found: Comparison) -> None:
    earlier = ((70.0, 64 * MIB), (143.75, 0))
    shared, _ = drawn(with_live(found, reserved=earlier), "reserved")
    assert shared[:2] == [(0.0, 0.0), (0.0, 64.0)]
