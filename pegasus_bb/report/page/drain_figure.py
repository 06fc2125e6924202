"""Results that leave the tier at a pace, and the waits of a competing program."""

from __future__ import annotations

import altair as alt

from pegasus_bb.model.run import Drained
from pegasus_bb.report.page.charts import axis, byte_axis, chart, color, draw, over_time
from pegasus_bb.report.page.figure import Column, Dataset, Figure, format_quantity
from pegasus_bb.report.probe import sentences
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
_PROBE = "A competing program"
_NO_PROBE = (
    "Left out: nothing read the PFS meanwhile. --probe FILE names the log of what did "
    "(docs/report.md)."
)
_WHEN = {"during": "results leave the tier", "outside": "other times"}
_PROBE_COLUMNS = (
    Column("name", "call"),
    Column("series", "when"),
    Column("p50", "p50", "s"),
    Column("p99", "p99", "s"),
    Column("count", "calls", "calls"),
)


def drain(found: Comparison) -> Figure:
    """Draw the first run on the burst buffer that has paced its results."""
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
        end = max(run.end, rows[-1]["at"])
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


def probe(found: Comparison) -> Figure:
    if not found.probe:
        return Figure("probe", _PROBE, _NO_PROBE)
    rows = [
        {
            "name": each.op,
            "series": words,
            "p50": waited.p50,
            "p99": waited.p99,
            "count": waited.count,
        }
        for each in found.probe
        for key, words in _WHEN.items()
        if (waited := getattr(each, key)) is not None
    ]
    data = Dataset(_PROBE_COLUMNS, rows)
    drawing = draw(data).mark_bar()
    drawing = drawing.encode(
        x=axis(alt.X, "p99", "s"),
        y=alt.Y("name:N", title=None, sort=None),
        yOffset=alt.YOffset("series:N", sort=list(_WHEN.values())),
        color=color(list(_WHEN.values())),
    )
    label = "Latency (p99) of a competing program's calls; the table has the numbers"
    shown = chart(drawing, label, 12 + 18 * len(rows), data=data)
    about = f"{'; '.join(sentences(found.probe))}."
    about = about[0].upper() + about[1:]
    return Figure("probe", _PROBE, about, (shown,), (data.table(_PROBE),))
