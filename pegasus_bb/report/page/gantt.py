"""Bars over time, in lanes: each bar in the lowest lane of its group that is free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import altair as alt

from pegasus_bb.report.page.charts import PAPER, Drawing, chart, draw, over_time
from pegasus_bb.report.page.figure import Chart, Column, Dataset, Row

GROUPS = ("reservation", "staging", "jobs", "other")  # from top to bottom
COLUMNS = (
    Column("node", "node"),
    Column("what", "what"),
    Column("start", "begun", "s"),
    Column("seconds", "took", "s"),
    Column("queued", "queued before", "s"),
)
BARS = 1500  # of one run
_NAMES = alt.Axis(
    labelExpr="split(datum.label, ' ')[1] ? '' : datum.label",
    minExtent=78,  # so that the seconds of both sides stand below one another
)
# pixels
_LANE = 13
_FRAME = 12
_TALLEST = 480
_LIGHTER = 0.3  # opacity


def gantt(
    side: str, bars: Sequence[Row], end: float, colors: Mapping[str, str]
) -> Chart:
    """``bars``, with ``since``, ``start`` and ``end`` in seconds, up to ``end``."""
    longest = sorted(bars, key=lambda bar: -float(bar["seconds"]))[:BARS]
    rows = sorted(_with_lanes(sorted(longest, key=_start)), key=_lane)
    data = Dataset(COLUMNS, rows)
    height = _LANE * len({row["lane"] for row in rows})
    label = f"{side}: tasks over time; the table has the times"
    drawing = _drawing(data, end, colors, crowded=height > _TALLEST)
    return chart(drawing, label, _FRAME + min(_TALLEST, height), data, side)


def _drawing(
    data: Dataset, end: float, colors: Mapping[str, str], *, crowded: bool
) -> Drawing:
    """Lanes that are too many for names are told by their colors alone."""
    names = None if crowded else _NAMES
    scale = alt.Scale(domain=[*colors], range=[*colors.values()])
    base = draw(data).encode(
        y=alt.Y("lane:N", title=None, sort=None, axis=names),
        color=alt.Color("what:N", scale=scale, legend=None),
    )
    edge = {} if crowded else {"stroke": PAPER, "strokeWidth": 0.5}
    bars = base.mark_bar(**edge).encode(x2="end")
    layers = [over_time(bars, end, "start")]
    if any(row["queued"] for row in data.rows):
        queued = base.transform_filter("datum.queued > 0")
        drawn = queued.mark_bar(opacity=_LIGHTER).encode(x2="start")
        layers.insert(0, over_time(drawn, end, "since"))
    return alt.layer(*layers)


def _with_lanes(bars: Sequence[Row]) -> Iterator[Row]:
    ends: Mapping[str, list[float]] = {group: [] for group in GROUPS}
    for bar in bars:
        lanes = ends[bar["group"]]
        free = (n for n, busy_until in enumerate(lanes) if busy_until <= bar["since"])
        lane = next(free, len(lanes))
        lanes[lane : lane + 1] = [bar["end"]]
        yield {**bar, "lane": f"{bar['group']} {lane or ''}".strip(), "number": lane}


def _start(bar: Row) -> tuple[float, float, str]:
    """Of jobs that queue together, the one that starts first is at the top."""
    return bar["start"], bar["end"], bar["node"]


def _lane(bar: Row) -> tuple[int, int]:
    return GROUPS.index(bar["group"]), bar["number"]
