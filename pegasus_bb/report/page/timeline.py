"""Each side over time, one above the other: bars, each in the lowest free lane of its
group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import altair as alt

from pegasus_bb.core.text import readable
from pegasus_bb.core.units import format_seconds
from pegasus_bb.model.run import Kind
from pegasus_bb.report.columns import ReportedRun
from pegasus_bb.report.page.charts import (
    ALERT,
    INK,
    JOBS,
    OTHER_JOBS,
    PAPER,
    REST,
    STAGE_IN,
    STAGE_OUT,
    WAIT,
    Drawing,
    chart,
    draw,
    over_time,
)
from pegasus_bb.report.page.figure import (
    Chart,
    Column,
    DataRow,
    Dataset,
    Figure,
    Legend,
)
from pegasus_bb.report.report_document import SIDES, Comparison

_GROUPS = ("reservation", "staging", "jobs", "other")  # from top to bottom
_COLUMNS = (
    Column("node", "node"),
    Column("what", "what"),
    Column("start", "begun", "s"),
    Column("seconds", "took", "s"),
    Column("queued", "queued before", "s"),
)
_BARS = 1500  # of one run
_NAMES = alt.Axis(
    labelExpr="split(datum.label, ' ')[1] ? '' : datum.label",
    minExtent=78,  # so that the seconds of both sides stand below one another
)
# pixels
_LANE = 13
_FRAME = 12
_TALLEST = 480
_LIGHTER = 0.3  # opacity
# Kind of a bar -> group, and what it is. Each group has lanes of its own.
_KINDS = {
    "bb_setup": ("reservation", "reserving"),
    "gate": ("reservation", "waiting at the gate"),
    "bb_delete": ("reservation", "giving back"),
    "stage_in": ("staging", "stage-in"),
    "stage_inter": ("staging", "stage-in"),
    "stage_out": ("staging", "stage-out"),
}
_OTHER = ("other", "other jobs of Pegasus")
_REST = "other transformations"
_COLORS = {
    "stage-in": STAGE_IN,
    "stage-out": STAGE_OUT,
    "reserving": INK,
    "waiting at the gate": WAIT,
    "giving back": ALERT,
    _OTHER[1]: OTHER_JOBS,
}
_QUEUED = ("lighter", "lighter: queueing")


def timeline(found: Comparison) -> Figure:
    """Draw both sides. Jobs have the color of their transformation, lighter while they
    queue."""
    runs = {SIDES[side]: found.typical(side)[1] for side in found.sides}
    named = _named(runs.values())
    bars = {side: sorted(_bars(run, named), key=_start) for side, run in runs.items()}
    every = [bar for each in bars.values() for bar in each]
    if not every:
        about = "Left out: no record has the start of a job. Any Kickstart record does."
        return Figure("timeline", "Timeline", about)
    end = max(bar["end"] for bar in every)
    legend = tuple(_legend(every, named))
    colors = {label: color for color, label in legend}
    charts = tuple(
        _gantt(side, each, end, colors) for side, each in bars.items() if each
    )
    tables = tuple(
        Dataset(_COLUMNS, each).table(f"{side}, over time")
        for side, each in bars.items()
    )
    about = _about(found, bars, every)
    return Figure("timeline", "Timeline", about, charts, tables, legend=legend)


def _about(
    found: Comparison, bars: Mapping[str, Sequence[DataRow]], every: Sequence[DataRow]
) -> str:
    about = "Time since the beginning of each run, on one axis."
    if rounded := list(_in_whole_seconds(every)):
        about += f" In whole seconds, as in jobstate.log: {', '.join(rounded)}."
    if found.repeated:
        about += f" Drawn: {', '.join(_drawn(found, side) for side in found.sides)}."
    if any(len(each) > _BARS for each in bars.values()):
        about += f" Of each run the {_BARS} longest bars are drawn."
    return about


def _drawn(found: Comparison, side: str) -> str:
    name, reported = found.typical(side)
    stat = getattr(found.workflow["makespan"], side)
    makespan = reported.run.makespan
    if stat is None or makespan is None or stat.n == 1:
        return name
    return f"{name} ({format_seconds(makespan)}; mean {format_seconds(stat.mean)})"


def _in_whole_seconds(bars: Sequence[DataRow]) -> Iterator[str]:
    """Name the waits of which no task tells the fractions of a second."""
    waits = {
        "queueing": [bar["queued"] for bar in bars if bar["queued"]],
        "the wait at the gate": [
            b["seconds"] for b in bars if b["what"] == "waiting at the gate"
        ],
    }
    for what, seconds in waits.items():
        if seconds and all(each == int(each) for each in seconds):
            yield what


def _named(runs: Iterable[ReportedRun]) -> dict[str, str]:
    """Give the transformations that took longest a color each."""
    seconds: dict[str, float] = {}
    for reported in runs:
        for task in reported.run.tasks:
            if task.kind is Kind.COMPUTE:
                name = readable(task.name)
                seconds[name] = seconds.get(name, 0.0) + task.duration
    longest = sorted(seconds, key=lambda name: -seconds[name])[: len(JOBS)]
    return dict(zip(sorted(longest), JOBS, strict=False))


def _legend(bars: Sequence[DataRow], named: Mapping[str, str]) -> Iterator[Legend]:
    """Yield what is drawn, and no more."""
    drawn = {bar["what"] for bar in bars}
    for label, color in {**named, _REST: REST, **_COLORS}.items():
        if label in drawn:
            yield color, label
    if any(bar["queued"] for bar in bars):
        yield _QUEUED


def _bars(reported: ReportedRun, named: Mapping[str, str]) -> Iterator[DataRow]:
    run = reported.run
    start = reported.gate_offset
    if start is not None and run.gate_wait:
        yield _bar("gate", _KINDS["gate"], start, run.gate_wait, None)
    queued: set[str] = set()  # nodes: of clustered tasks only the first waited
    for task in run.tasks:
        start = reported.time.at(task.start)
        group, what = _KINDS.get(task.kind.value, _OTHER)
        if task.kind is Kind.COMPUTE:
            group = "jobs"
            name = readable(task.name)
            what = name if name in named else _REST
        waited = None if task.node in queued else task.queued
        queued.add(task.node)
        yield _bar(task.node, (group, what), start, task.duration, waited)


def _bar(
    node: str,
    kind: tuple[str, str],  # group, what it is
    start: float,
    seconds: float,
    queued: float | None,
) -> DataRow:
    group, what = kind
    return {
        "node": node,
        "what": what,
        "group": group,
        "start": start,
        "end": start + seconds,
        "seconds": seconds,
        "queued": queued,
        "since": max(0.0, start - (queued or 0.0)),
    }


def _start(bar: DataRow) -> tuple[float, float, str]:
    """Order bars: of jobs that queue together, the one that starts first is at the
    top."""
    return bar["start"], bar["end"], bar["node"]


def _gantt(
    side: str, bars: Sequence[DataRow], end: float, colors: Mapping[str, str]
) -> Chart:
    """Draw ``bars``, with ``since``, ``start`` and ``end`` in seconds, up to
    ``end``."""
    longest = sorted(bars, key=lambda bar: -float(bar["seconds"]))[:_BARS]
    rows = sorted(_with_lanes(sorted(longest, key=_start)), key=_lane)
    data = Dataset(_COLUMNS, rows)
    height = _LANE * len({row["lane"] for row in rows})
    label = f"{side}: tasks over time; the table has the times"
    drawing = _drawing(data, end, colors, crowded=height > _TALLEST)
    return chart(drawing, label, _FRAME + min(_TALLEST, height), data=data, title=side)


def _drawing(
    data: Dataset, end: float, colors: Mapping[str, str], *, crowded: bool
) -> Drawing:
    """Draw the lanes. If there are too many for names, their colors alone tell them
    apart."""
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


def _with_lanes(bars: Sequence[DataRow]) -> Iterator[DataRow]:
    ends: Mapping[str, list[float]] = {group: [] for group in _GROUPS}
    for bar in bars:
        lanes = ends[bar["group"]]
        free = (n for n, busy_until in enumerate(lanes) if busy_until <= bar["since"])
        lane = next(free, len(lanes))
        lanes[lane : lane + 1] = [bar["end"]]
        yield {**bar, "lane": f"{bar['group']} {lane or ''}".strip(), "number": lane}


def _lane(bar: DataRow) -> tuple[int, int]:
    return _GROUPS.index(bar["group"]), bar["number"]
