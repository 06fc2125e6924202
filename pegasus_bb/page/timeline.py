"""Both runs over time, one above the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from pegasus_bb.page.charts import (
    ALERT,
    BUFFER,
    INK,
    LINE,
    SOFT,
    STAGE_IN,
    STAGE_OUT,
    WAIT,
    chart,
    draw,
    over_time,
)
from pegasus_bb.page.figure import Chart, Column, Dataset, Figure, Row
from pegasus_bb.report.document import Comparison, ReportedRun

# Kind of a bar -> group, and what it is. Each group has lanes of its own.
_KINDS = {
    "bb_setup": ("reservation", "reserve"),
    "gate": ("reservation", "gate wait"),
    "bb_delete": ("reservation", "release"),
    "stage_in": ("staging", "stage-in"),
    "stage_inter": ("staging", "stage-in"),
    "stage_out": ("staging", "stage-out"),
    "compute": ("jobs", "job"),
}
_OTHER = ("other", "other")
_GROUPS = ("reservation", "staging", "jobs", "other")  # from top to bottom
_COLORS = {
    "job": BUFFER,
    **{"stage-in": STAGE_IN, "stage-out": STAGE_OUT},
    **{"reserve": INK, "gate wait": WAIT, "release": ALERT, "other": LINE},
}
_COLUMNS = (
    *(Column("node", "node"), Column("what", "what")),
    *(Column("start", "begun", "s"), Column("seconds", "took", "s")),
)
_NAMES = alt.Axis(labelExpr="split(datum.label, ' ')[1] ? '' : datum.label")
_BARS = 1500  # of one run
_LANE, _FRAME, _TALLEST = 13, 12, 600  # pixels


def timeline(found: Comparison) -> Figure:
    runs = {"PFS": found.pfs, "burst buffer": found.bb}
    bars = {side: sorted(_bars(each[0]), key=_start) for side, each in runs.items()}
    if not any(bars.values()):
        about = "Left out: no record has the start of a job. Any Kickstart record does."
        return Figure("timeline", "Timeline", about)
    end = max(bar["end"] for each in bars.values() for bar in each)
    about = "Time since the beginning of each run, on one axis."
    if any(bar["what"] == "gate wait" for each in bars.values() for bar in each):
        about += " The gate's times are those of jobstate.log, in whole seconds."
    if any(len(each) > 1 for each in runs.values()):
        about += " The first repetition is drawn."
    if any(len(each) > _BARS for each in bars.values()):
        about += f" Of each run the {_BARS} longest bars are drawn."
    charts = tuple(_gantt(side, each, end) for side, each in bars.items() if each)
    tables = (
        Dataset(_COLUMNS, each).table(f"{side}, over time")
        for side, each in bars.items()
    )
    return Figure("timeline", "Timeline", about, charts, tuple(tables))


def _bars(reported: ReportedRun) -> Iterator[dict[str, Any]]:
    run, start = reported.run, reported.gate_offset
    if start is not None and run.gate_wait is not None:
        yield _bar("gate", "gate", start, run.gate_wait)
    for task in run.tasks:
        start = reported.time.at(task.start)
        yield _bar(task.node, task.kind.value, start, task.duration)


def _bar(node: str, kind: str, start: float, seconds: float) -> dict[str, Any]:
    group, what = _KINDS.get(kind, _OTHER)
    times = {"start": start, "end": start + seconds, "seconds": seconds}
    return {"node": node, "what": what, "group": group, **times}


def _start(bar: Row) -> tuple[float, float, str]:
    return bar["start"], bar["end"], bar["node"]


def _gantt(side: str, bars: Sequence[Row], end: float) -> Chart:
    longest = sorted(bars, key=lambda bar: -float(bar["seconds"]))[:_BARS]
    rows = sorted(_with_lanes(sorted(longest, key=_start)), key=_lane)
    data = Dataset(_COLUMNS, rows)
    height = _LANE * len({row["lane"] for row in rows})
    colors = alt.Scale(domain=[*_COLORS], range=[*_COLORS.values()])
    marks = draw(data).mark_bar(stroke=SOFT, strokeWidth=0.5)
    drawing = over_time(marks, end, "start", "end").encode(
        x2="end:T",
        # Lanes that are too many for names are told by their colors alone.
        y=alt.Y(
            "lane:N", title=None, sort=None, axis=_NAMES if height <= _TALLEST else None
        ),
        color=alt.Color("what:N", scale=colors),
    )
    label = f"{side}: tasks over time; the table has the times"
    return chart(drawing, label, _FRAME + min(_TALLEST, height), data, side)


def _with_lanes(bars: Sequence[Row]) -> Iterator[Row]:
    """Each bar with the lowest lane of its group that is free at its start."""
    ends: Mapping[str, list[float]] = {group: [] for group in _GROUPS}
    for bar in bars:
        lanes = ends[bar["group"]]
        free = (n for n, busy_until in enumerate(lanes) if busy_until <= bar["start"])
        lane = next(free, len(lanes))
        lanes[lane : lane + 1] = [bar["end"]]
        yield {**bar, "lane": f"{bar['group']} {lane or ''}".strip(), "number": lane}


def _lane(bar: Row) -> tuple[int, int]:
    return _GROUPS.index(bar["group"]), bar["number"]
