"""A tier during a run: live bytes against what is reserved, and results that leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import altair as alt

from pegasus_bb.model.run import Drained, LiveBytes
from pegasus_bb.report.columns import ReportedRun
from pegasus_bb.report.page.charts import (
    ALERT,
    BUFFER,
    axis,
    byte_axis,
    chart,
    color,
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
    format_quantity,
)
from pegasus_bb.report.probe import sentences
from pegasus_bb.report.report_document import Comparison

_TITLE = "Live bytes on the tier"
_MISSING = (
    "Left out: no record of what was on the tier. A submit directory of any mode but "
    "off has one, in its job lists and its bb folder."
)
_ABOUT = (
    "At most {most}. A file counts from the start of the job that brings or writes it "
    "to the end of the one that removes it, or of the reservation."
)
_SHARED = "on the reservation of all jobs"
_SINGLE = "on reservations of single jobs, added up"
_COLUMNS = (
    Column("at", "time since the run began", "s"),
    Column("what", "what"),
    Column("size", "bytes", "B"),
)
_DRAINED = "Results leaving the tier"
_NOT_PACED = (
    "Left out: no run has paced its results. --bb-drain paced, or a rate, does "
    "(docs/draining.md)."
)
_RATE_COLUMNS = (
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


class _Part(NamedTuple):
    """The live bytes on one kind of reservations."""

    where: str
    live: LiveBytes
    rows: Sequence[DataRow]  # seconds since the run began -> bytes

    @property
    def most(self) -> float:
        return max(size for _, size in self.live.steps)


def live(found: Comparison) -> Figure:
    """Draw the run on the burst buffer that the timeline shows, else the first that has
    a record of its tier."""
    drawn = [found.typical("bb")[1]] if found.bb else []
    for run in (*drawn, *found.bb):
        parts = list(_parts(run))
        if parts:
            end = max([run.end, *(row["at"] for part in parts for row in part.rows)])
            charts = tuple(_chart(part, end) for part in parts)
            tables = tuple(
                Dataset(_COLUMNS, part.rows).table(f"Live bytes {part.where}")
                for part in parts
            )
            legend = live_legend(part.live.capacity for part in parts)
            return Figure("live", _TITLE, _about(parts), charts, tables, legend=legend)
    return Figure("live", _TITLE, _MISSING)


def live_legend(capacities: Iterable[int | None]) -> tuple[Legend, ...]:
    live = ((BUFFER, "live bytes"),)
    return (*live, (ALERT, "reserved")) if any(capacities) else live


def _parts(run: ReportedRun) -> Iterator[_Part]:
    of_jobs = run.run.live_job_reservations
    for where, found in ((_SHARED, run.run.live), (_SINGLE, of_jobs)):
        if found and found.steps:
            lines = (("live", found.steps), ("reserved", found.reserved))
            rows = [
                {"at": run.time.at(at), "what": what, "size": size}
                for what, steps in lines
                for at, size in steps
            ]
            yield _Part(where, found, rows)


def _about(parts: Sequence[_Part]) -> str:
    most = " and ".join(f"{format_quantity(p.most, 'B')} {p.where}" for p in parts)
    unknown = " and ".join(
        f"{format_quantity(part.live.unknown, 'files')} {part.where}"
        for part in parts
        if part.live.unknown
    )
    left_out = f" Not in it, of unknown size or writer: {unknown}." if unknown else ""
    return _ABOUT.format(most=most) + left_out


def _chart(part: _Part, end: float) -> Chart:
    data = Dataset(
        _COLUMNS, [*_drawn(part, "live", end), *_drawn(part, "reserved", end)]
    )
    highest = max(row["size"] for row in data.rows)
    base = draw(data).encode(
        y=byte_axis(alt.Y, "size", highest), tooltip=alt.value(None)
    )
    area = base.transform_filter("datum.what == 'live'").mark_area()
    line = base.transform_filter("datum.what == 'reserved'").mark_line(
        interpolate="step-after", stroke=ALERT
    )
    title = part.where
    capacity = part.live.capacity
    if capacity:
        title += f"; reserved: {format_quantity(capacity, 'B')}"
    label = f"Live bytes over time {part.where}; the table has the numbers"
    drawing = over_time(alt.LayerChart(layer=[area, line]), end, "at")
    return chart(drawing, label, 220, data=data, title=title)


def _drawn(part: _Part, what: str, end: float) -> Iterator[DataRow]:
    """Yield the points of one series, clipped to the run and starting at zero."""
    rows = [row for row in part.rows if row["what"] == what]
    if what == "reserved" and not rows and part.live.capacity:
        rows = [{"at": 0.0, "what": what, "size": part.live.capacity}]
    if rows:
        yield {**rows[0], "at": max(0.0, rows[0]["at"]), "size": 0.0}
        yield from ({**row, "at": max(0.0, row["at"])} for row in rows)
        yield {**rows[-1], "at": end}


def drain(found: Comparison) -> Figure:
    """Draw the first run on the burst buffer that has paced its results."""
    for run in found.bb:
        drained = run.run.drained
        if drained is None:
            continue
        rows = [{"at": run.time.at(at), "rate": rate} for at, rate in drained.steps]
        data = Dataset(_RATE_COLUMNS, rows)
        peak = max(rate for _, rate in drained.steps)
        line = draw(data).mark_line(interpolate="step-after")
        drawing = line.encode(
            y=byte_axis(alt.Y, "rate", peak, "/s"), tooltip=alt.value(None)
        )
        end = max(run.end, rows[-1]["at"])
        label = "Bytes per second to the PFS over time; the table has the numbers"
        shown = chart(over_time(drawing, end, "at"), label, 200, data=data)
        return Figure(
            "drain",
            _DRAINED,
            _about_drained(drained),
            (shown,),
            (data.table(_DRAINED),),
        )
    return Figure("drain", _DRAINED, _NOT_PACED)


def _about_drained(drained: Drained) -> str:
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
