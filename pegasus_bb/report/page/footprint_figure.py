"""Run time and waiting against footprint (Ferreira da Silva et al. 2019, Fig. 7)."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from pegasus_bb.report.page.charts import (
    NAMES,
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
from pegasus_bb.report.page.figure import Chart, Column, DataRow, Dataset, Figure
from pegasus_bb.report.report_document import Comparison, Row

_TITLE = "Run time and waiting against footprint"
_MISSING = (
    "Left out: no record has the bytes that its job read and wrote. Records of our "
    "launcher, of Kickstart with -t, and Darshan logs have them."
)
_ABOUT = (
    "Each compute job by the bytes that it read and wrote; means over repetitions. "
    "Lower is better."
)
_BYTES = "bytes read and written"
_POINTS = 4000  # jobs with the largest footprints
_WIDE = 50.0  # from this on, largest to smallest, an axis is logarithmic
_KEYS = ("bytes_moved", "run_time", "io_wait")


def footprint(found: Comparison) -> Figure:
    """Draw a point for each job and side, a chart for each kind of time."""
    rows = [row for job in found.jobs for row in _rows(job)]
    rows.sort(key=lambda row: -float(row["bytes_moved"]))
    metrics = {metric.key: metric for metric in found.metrics}
    moved, *times = (
        Column(key, metrics[key].title, metrics[key].unit) for key in _KEYS
    )
    job = Column("job", "job"), Column("series", "side")
    data = Dataset((*job, moved, *times), rows[:_POINTS])
    charts = tuple(
        _chart(data, time) for time in times if any(time.key in row for row in rows)
    )
    if not charts:
        return Figure("footprint", _TITLE, _MISSING)
    tables = (data.table("Each job"),)
    return Figure("footprint", _TITLE, _ABOUT, charts, tables, side_by_side=True)


def _rows(job: Row) -> Iterator[DataRow]:
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
