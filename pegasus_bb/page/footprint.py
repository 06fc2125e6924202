"""Run time and waiting against footprint (Ferreira da Silva et al. 2017, Fig. 7)."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from pegasus_bb.page.charts import (
    SIDES,
    Chart,
    chart,
    draw,
    series_color,
    series_shape,
    sides,
)
from pegasus_bb.page.dataset import Column, Dataset, Row
from pegasus_bb.page.figure import Figure, table
from pegasus_bb.report.document import Comparison
from pegasus_bb.report.document import Row as JobRow
from pegasus_bb.report.metrics import IOWait

_TITLE = "Run time and waiting against footprint"
_MISSING = (
    "Left out: no record has the bytes that its job read and wrote. Records of our "
    "launcher, of Kickstart with -t, and Darshan logs have them."
)
_ABOUT = (
    "Each job of the user by the bytes that it read and wrote; means over repetitions. "
    "Lower is better."
)
_POINTS = 4000  # jobs with the largest footprints
_WIDE = 50.0  # from this on, largest to smallest, an axis is logarithmic
_KEYS = ("bytes_moved", "run_time", "io_wait")


def footprint(found: Comparison) -> Figure:
    """A point for each job and side, a chart for each kind of time."""
    rows = [row for job in found.jobs for row in _rows(job)]
    rows.sort(key=lambda row: -float(row["bytes_moved"]))
    measured = found.io_wait is IOWait.MEASURED
    wait = "I/O wait" if measured else "time off CPU"
    data = Dataset(
        (
            Column("job", "job"),
            Column("series", "side"),
            Column("bytes_moved", "bytes read and written", "B"),
            Column("run_time", "run time", "s"),
            Column("io_wait", wait, "s"),
        ),
        rows[:_POINTS],
    )
    charts = [
        _chart(data, key, words)
        for key, words in (("run_time", "run time"), ("io_wait", wait))
        if any(key in row for row in rows)
    ]
    if not charts:
        return Figure("footprint", _TITLE, _MISSING)
    tables = (table("Each job", data),)
    return Figure("footprint", _TITLE, _ABOUT, tuple(charts), tables, side_by_side=True)


def _rows(job: JobRow) -> Iterator[Row]:
    found = {key: dict(sides(job.cells[key])) for key in _KEYS}
    for side in SIDES:
        means = {key: stats[side].mean for key, stats in found.items() if side in stats}
        if means.get("bytes_moved"):  # a logarithm needs more than 0
            yield {"job": f"{job.name} {job.job}", "series": side, **means}


def _chart(data: Dataset, key: str, words: str) -> Chart:
    moved = [row["bytes_moved"] for row in data.rows]
    logarithmic = max(moved) >= _WIDE * min(moved)
    scale = alt.Scale(type="log" if logarithmic else "linear", nice=False)
    title = f"{data.unit('bytes_moved').name} read and written"
    marks = draw("jobs", data).mark_point(filled=True, opacity=0.6, size=60)
    drawing = marks.encode(
        x=alt.X("bytes_moved:Q", title=title, scale=scale),
        y=alt.Y(f"{key}:Q", title=data.unit(key).name),
        color=series_color(SIDES),
        shape=series_shape(SIDES),
    )
    label = f"{words} of each job against its footprint; the table has the numbers"
    return chart(drawing, label, 240, words, jobs=data)
