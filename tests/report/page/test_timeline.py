"""The timeline: a color for each transformation, and queueing before the bar."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Run
from pegasus_bb.report.compare import compare
from pegasus_bb.report.page.figure import Figure, Row
from pegasus_bb.report.page.timeline import timeline
from tests.report.made import a_run, a_task


def rows_of(figure: Figure) -> list[Row]:
    return [row for chart in figure.charts for row in chart.spec["datasets"]["rows"]]


@pytest.fixture
def queued() -> Run:
    """Two jobs at once; one of them waited for two seconds."""
    return a_run(
        a_task("cat", node="cat_1", start=10.0, duration=5.0, queued=0.0),
        a_task("dog", node="dog_1", start=12.0, duration=5.0, queued=2.0),
        mode="off",
    )


def test_queueing_is_drawn_lighter_from_when_it_began(queued: Run) -> None:
    figure = timeline(compare([queued], []))
    assert figure.legend[-1] == ("lighter", "lighter: queueing")
    (light, solid) = figure.charts[0].spec["layer"]
    assert light["mark"]["opacity"] < 0.5
    assert "opacity" not in solid["mark"]
    since = {row["node"]: (row["since"], row["start"]) for row in rows_of(figure)}
    assert since == {"cat_1": (0.0, 0.0), "dog_1": (0.0, 2.0)}
    assert len({row["lane"] for row in rows_of(figure)}) == 2
