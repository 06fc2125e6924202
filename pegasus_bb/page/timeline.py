"""Both runs over time, one above the other."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

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
    Chart,
    chart,
    draw,
)
from pegasus_bb.page.dataset import Column, Dataset, Row
from pegasus_bb.page.figure import Figure, table
from pegasus_bb.report.document import Comparison, ReportedRun

_LANES = 16  # of one group; of more jobs at once their number is drawn
_BARS = 1500  # of one group, likewise
# Group -> kinds of its bars. Each group has lanes of its own, not only a color.
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "reservation": ("bb_setup", "gate", "bb_delete"),
    "staging": ("stage_in", "stage_inter", "stage_out"),
    "jobs": ("compute",),
    "other": ("create_dir", "register", "cleanup", "other"),
}
_KINDS = {
    "bb_setup": "reserve",
    "gate": "gate wait",
    "bb_delete": "release",
    "stage_in": "stage-in",
    "stage_inter": "stage-in",
    "stage_out": "stage-out",
    "compute": "job",
}
_COLORS = {
    "job": BUFFER,
    **{"stage-in": STAGE_IN, "stage-out": STAGE_OUT},
    **{"reserve": INK, "gate wait": WAIT, "release": ALERT, "other": LINE},
}
_COLUMNS = (
    Column("node", "node"),
    Column("what", "what"),
    Column("start", "begun", "s", axis="time"),
    Column("end", "", "s", axis="time"),
    Column("seconds", "took", "s"),
)
_LANE, _FRAME = 13, 12  # pixels


class Bar(NamedTuple):
    """A task, or the gate's wait."""

    start: float  # seconds since the run began
    end: float
    kind: str
    name: str
    seconds: float

    @property
    def what(self) -> str:
        return _KINDS.get(self.kind, "other")


def timeline(found: Comparison) -> Figure:
    """The first run of each side."""
    runs = {"PFS": found.pfs, "burst buffer": found.bb}
    bars = {side: sorted(_bars(runs[side][0])) for side in runs}
    if not any(bars.values()):
        about = "Left out: no record has the start of a job. Any Kickstart record does."
        return Figure("timeline", "Timeline", about)
    end = max(bar.end for each in bars.values() for bar in each)
    about = "Seconds since the beginning of each run, on one axis."
    if any(bar.kind == "gate" for each in bars.values() for bar in each):
        about += " The gate's times are those of jobstate.log, in whole seconds."
    if any(len(each) > 1 for each in runs.values()):
        about += " The first repetition is drawn."
    return Figure(
        "timeline",
        "Timeline",
        about,
        tuple(c for side, each in bars.items() for c in _charts(side, each, end)),
        tuple(
            table(f"{side}, over time", Dataset(_COLUMNS, [*map(_row, each)]))
            for side, each in bars.items()
        ),
    )


def _bars(reported: ReportedRun) -> Iterator[Bar]:
    run, start = reported.run, reported.gate_offset
    if start is not None and run.gate_wait is not None:
        yield Bar(start, start + run.gate_wait, "gate", "gate", run.gate_wait)
    for task in run.tasks:
        start, took = reported.time.at(task.start), task.duration
        yield Bar(start, start + took, task.kind.value, task.node, took)


def _charts(side: str, bars: Sequence[Bar], end: float) -> Iterator[Chart]:
    """Lanes of bars; a chart of their number for each group that has too many."""
    few: list[Row] = []
    for group, kinds in _GROUPS.items():
        found = [bar for bar in bars if bar.kind in kinds]
        lanes = _lanes(found)
        if max(lanes, default=0) >= _LANES or len(found) > _BARS:
            yield _crowd(f"{side}: {group} at once", found, end)
        else:
            pairs = zip(found, lanes, strict=True)
            few += (
                {**_row(b), "lane": f"{group} {n}" if n else group} for b, n in pairs
            )
    if few:
        yield _gantt(side, few, end)


def _gantt(side: str, rows: Sequence[Row], end: float) -> Chart:
    data = Dataset(_COLUMNS, rows)
    colors = alt.Scale(domain=list(_COLORS), range=list(_COLORS.values()))
    names = alt.Axis(labelExpr="split(datum.label, ' ')[1] ? '' : datum.label")
    bars = draw("tasks", data).mark_bar(stroke=SOFT, strokeWidth=0.5)
    drawing = bars.encode(
        x=_across(data, "start", end),
        x2="end:Q",
        y=alt.Y("lane:N", title=None, sort=None, axis=names),
        color=alt.Color("what:N", scale=colors),
    )
    label = f"{side}: tasks over time; the table has the times"
    lanes = {row["lane"] for row in rows}
    return chart(drawing, label, _FRAME + _LANE * len(lanes), side, tasks=data)


def _crowd(title: str, bars: Sequence[Bar], end: float) -> Chart:
    """How many of ``bars`` were under way at each time."""
    changes = sorted([(b.start, 1) for b in bars] + [(b.end, -1) for b in bars])
    at_once = accumulate(change for _, change in changes)
    rows = [
        {"at": time, "number": number}
        for (time, _), number in zip(changes, at_once, strict=True)
    ]
    columns = (
        Column("at", "", "s", axis="time"),
        Column("number", "", "tasks"),
    )
    data = Dataset(columns, rows)
    drawing = draw("changes", data).mark_area(tooltip=False)
    shown = drawing.encode(x=_across(data, "at", end), y=alt.Y("number:Q", title=None))
    return chart(shown, f"{title}; the table has the times", 160, title, changes=data)


def _across(data: Dataset, key: str, end: float) -> alt.X:
    unit = data.unit("time")
    scale = alt.Scale(domain=[0, end / unit.size], nice=False)
    return alt.X(f"{key}:Q", title=unit.name, scale=scale)


def _row(bar: Bar) -> Row:
    times = {"start": bar.start, "end": bar.end, "seconds": bar.seconds}
    return {"node": bar.name, "what": bar.what, **times}


def _lanes(bars: Sequence[Bar]) -> list[int]:
    """The lowest free lane for each of ``bars``, which are sorted by start."""
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    lanes = []
    for bar in bars:
        while busy and busy[0][0] <= bar.start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (bar.end, lane))
        lanes.append(lane)
    return lanes
