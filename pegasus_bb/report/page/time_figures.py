"""The time of transformations and jobs: as they ran, by footprint, in I/O calls, in
user and system mode.

Ferreira da Silva et al. 2019, Figs. 7 and 12 to 15, have all but the first.
"""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from pegasus_bb.report.columns import RATIO, TO_ONE
from pegasus_bb.report.page.charts import (
    ALERT,
    LINES,
    NAMES,
    SOFT,
    STAGE_IN,
    WAIT,
    axis,
    byte_axis,
    chart,
    color,
    draw,
    drawn_sides,
    log_byte_axis,
    shape,
    sides,
)
from pegasus_bb.report.page.drawings import paired_bars, stacked_bars
from pegasus_bb.report.page.figure import Chart, Column, DataRow, Dataset, Figure
from pegasus_bb.report.page.overview import each_kind
from pegasus_bb.report.report_document import Comparison, Row

_RUN_TITLE = "Run time by transformation"
_NO_RUNS = "Left out: no record is of a compute job."
_RUN_ABOUT = "Seconds of all jobs of a transformation, added up."
_MOST = 20  # transformations that are drawn
_TITLE = "Time per process"
_MISSING = (
    "Left out: there is no Darshan log of these runs. Put logs anywhere below the "
    "submit directories."
)
_ABOUT = (
    "Mean seconds that a process spent in calls; other is the rest of its run time: "
    "computing, waiting, calls of other layers. POSIX, MPI-IO and STDIO are layers. "
    "One may call another, so do not add them up."
)
_IN_CALLS = ("read", "write", "metadata")
_PARTS = {"read": STAGE_IN, "write": WAIT, "metadata": ALERT, "other": SOFT}
_COLUMNS = (
    Column("name", "transformation, layer, side"),
    *(Column(part, part, "s") for part in _PARTS),
    Column("slowest", "slowest process", "s"),
    Column("slowest_to_average", "slowest to average", RATIO),
    Column("processes", "processes", "processes"),
)
_LABEL = "Seconds per process of each transformation; the table has the numbers"
_CPU_TITLE = "User time to system time"
_NO_CPU = (
    "Left out: no record has CPU times. Records of Kickstart and of our recorder have "
    "them."
)
_CPU_ABOUT = (
    "CPU time in user mode to CPU time in the kernel. The larger it is, the less of "
    "its time a job spends on input and output."
)
_CPU_LABEL = "User to system time of each transformation; the table has the numbers"
_FOOTPRINT = "Run time and waiting against footprint"
_NO_FOOTPRINT = (
    "Left out: no record has the bytes that its job read and wrote. Records of our "
    "launcher, of Kickstart with -t, and Darshan logs have them."
)
_OF_FOOTPRINT = (
    "Each compute job by the bytes that it read and wrote; means over repetitions. "
    "Lower is better."
)
_BYTES = "bytes read and written"
_MOST_POINTS = 4000  # jobs with the largest footprints
_WIDE = 50.0  # from this on, largest to smallest, an axis is logarithmic
_KEYS = ("bytes_moved", "run_time", "io_wait")


def transformations(found: Comparison) -> Figure:
    """Draw those that took longest; the tables have all."""
    pairs = {row.name: row.cells["run_time"] for row in found.compute}
    longest = sorted(pairs, key=lambda name: -pairs[name].larger)[:_MOST]
    if not longest:
        return Figure("transformations", _RUN_TITLE, _NO_RUNS)
    shown = {name: pairs[name] for name in pairs if name in longest}
    label = "Run time of each transformation; the tables have the numbers"
    _, bars = paired_bars("run time", "s", shown, label)
    about = _RUN_ABOUT + (LINES if found.repeated else "")
    if len(pairs) > _MOST:
        about += f" The {_MOST} that took longest are drawn."
    tables = tuple(each_kind(found))
    return Figure("transformations", _RUN_TITLE, about, (bars,), tables)


def calls(found: Comparison) -> Figure:
    """Draw a bar for each transformation, layer and side; layers are never added up."""
    rows = [row for layer in found.layers for row in _rows(layer)]
    if not rows:
        return Figure("calls", _TITLE, _MISSING)
    data = Dataset(_COLUMNS, rows)
    charts = (stacked_bars(data, _PARTS, _LABEL),)
    return Figure("calls", _TITLE, _ABOUT, charts, (data.table("Seconds per process"),))


def _rows(layer: Row) -> Iterator[DataRow]:
    for side, short in (("PFS", "PFS"), ("burst buffer", "BB")):
        means = {
            column.key: stats[side].mean
            for column in _COLUMNS[1:]
            if side in (stats := dict(sides(layer.cells[_metric(column)])))
        }
        if all(key in means for key in _IN_CALLS):
            yield {"name": f"{layer.name}, {layer.layer}, {short}", **means}


def _metric(column: Column) -> str:
    key = column.key.replace("metadata", "meta")
    return f"{key}_time" if column.unit == "s" else key


def processors(found: Comparison) -> Figure:
    pairs = {row.name: row.cells["user_system"] for row in found.compute}
    pairs = {name: pair for name, pair in pairs.items() if pair.pfs or pair.bb}
    if not pairs:
        return Figure("processors", _CPU_TITLE, _NO_CPU)
    data, bars = paired_bars("user to system", TO_ONE, pairs, _CPU_LABEL)
    tables = (data.table("User to system"),)
    about = _CPU_ABOUT + (LINES if found.repeated else "")
    return Figure("processors", _CPU_TITLE, about, (bars,), tables)


def footprint(found: Comparison) -> Figure:
    """Draw a point for each job and side, a chart for each kind of time."""
    rows = [row for job in found.jobs for row in _points(job)]
    rows.sort(key=lambda row: -float(row["bytes_moved"]))
    metrics = {metric.key: metric for metric in found.metrics}
    moved, *times = (
        Column(key, metrics[key].title, metrics[key].unit) for key in _KEYS
    )
    job = Column("job", "job"), Column("series", "side")
    data = Dataset((*job, moved, *times), rows[:_MOST_POINTS])
    charts = tuple(
        _chart(data, time) for time in times if any(time.key in row for row in rows)
    )
    if not charts:
        return Figure("footprint", _FOOTPRINT, _NO_FOOTPRINT)
    tables = (data.table("Each job"),)
    return Figure(
        "footprint", _FOOTPRINT, _OF_FOOTPRINT, charts, tables, side_by_side=True
    )


def _points(job: Row) -> Iterator[DataRow]:
    found = {key: dict(sides(job.cells[key])) for key in _KEYS}
    for side in NAMES:
        means = {key: stats[side].mean for key, stats in found.items() if side in stats}
        if means.get("bytes_moved"):  # a logarithm needs more than 0
            yield {"job": f"{job.name} {job.job}", "series": side, **means}


def _chart(data: Dataset, time: Column) -> Chart:
    moved = [row["bytes_moved"] for row in data.rows]
    low = min(moved)
    high = max(moved)
    names = drawn_sides(data.rows)
    marks = draw(data).mark_point(filled=True, opacity=0.6, size=60)
    drawing = marks.encode(
        x=log_byte_axis(alt.X, "bytes_moved", low, high, _BYTES)
        if high >= _WIDE * low
        else byte_axis(alt.X, "bytes_moved", high, title=_BYTES),
        y=axis(alt.Y, time.key, "s"),
        color=color(names),
        shape=shape(names),
    )
    label = f"{time.title} of each job against its footprint; the table has the numbers"
    return chart(drawing, label, 240, data=data, title=time.title)
