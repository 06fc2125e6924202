"""The chart of live bytes, on the shared reservation and on those of single jobs."""

from __future__ import annotations

from pegasus_bb.report.page.tier_figures import live
from pegasus_bb.report.report_document import Comparison


def test_both_charts_have_the_same_time_axis(found: Comparison) -> None:
    figure = live(found)
    shared, single = (c.spec["encoding"]["x"]["scale"] for c in figure.charts)
    assert shared["domain"] == single["domain"] == [0, 43.75]
    assert "At most 40.0 MiB on the reservation of all jobs and 9.0 MiB" in figure.about
    assert "1 file on the reservation of all jobs" in figure.about
