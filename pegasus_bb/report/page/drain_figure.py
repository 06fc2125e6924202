"""Bytes per second from the tier to the PFS, of a run that paced its results."""

from __future__ import annotations

import altair as alt

from pegasus_bb.model.run import Drained
from pegasus_bb.report.page.charts import chart, draw, over_time
from pegasus_bb.report.page.figure import Column, Dataset, Figure, format_quantity
from pegasus_bb.report.page.ticks import byte_axis
from pegasus_bb.report.report_document import Comparison

_TITLE = "Results leaving the tier"
_MISSING = (
    "Left out: no run has paced its results. --bb-drain paced, or a rate, does "
    "(docs/draining.md)."
)
_COLUMNS = (
    Column("at", "time since the run began", "s"),
    Column("rate", "bytes per second", "B/s"),
)


def drain(found: Comparison) -> Figure:
    """The first run on the burst buffer that has paced its results."""
    for run in found.bb:
        drained = run.run.drained
        if drained is None:
            continue
        rows = [{"at": run.time.at(at), "rate": rate} for at, rate in drained.steps]
        data = Dataset(_COLUMNS, rows)
        peak = max(rate for _, rate in drained.steps)
        line = draw(data).mark_line(interpolate="step-after")
        drawing = line.encode(
            y=byte_axis(alt.Y, "rate", peak, "/s"), tooltip=alt.value(None)
        )
        ends = [run.time.at(task.start) + task.duration for task in run.run.tasks]
        end = max([*ends, rows[-1]["at"]])
        label = "Bytes per second to the PFS over time; the table has the numbers"
        shown = chart(over_time(drawing, end, "at"), label, 200, data=data)
        return Figure("drain", _TITLE, _about(drained), (shown,), (data.table(_TITLE),))
    return Figure("drain", _TITLE, _MISSING)


def _about(drained: Drained) -> str:
    size, peak, mean = (
        format_quantity(value, unit)
        for value, unit in (
            (drained.size, "B"),
            (drained.peak, "B/s"),
            (drained.mean, "B/s"),
        )
    )
    return f"{size} in all: at most {peak} over one second, {mean} on average."
