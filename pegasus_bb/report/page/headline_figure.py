"""The first figure of a report: where each second of the makespan went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import altair as alt

from pegasus_bb.model.mean_and_error import Stat
from pegasus_bb.report.page.charts import (
    COMPUTE,
    LINES,
    OTHER_JOBS,
    STAGE_IN,
    STAGE_OUT,
    WAIT,
    axis,
    chart,
    draw,
)
from pegasus_bb.report.page.figure import (
    Chart,
    Column,
    DataRow,
    Dataset,
    Figure,
    format_quantity,
)
from pegasus_bb.report.page.overview import whole_run
from pegasus_bb.report.report_document import SIDES, Comparison

_TITLE = "Where the time went"
_MISSING = "Left out: no record has the start of a job. Any Kickstart record does."
# What the break-even calls the parts of the clock: its parts and its color.
_GROUPS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "jobs": (("compute",), COMPUTE),
    "staging in": (("stage_in",), STAGE_IN),
    "staging out": (("stage_out",), STAGE_OUT),
    "reservation (set up, wait, give back)": (
        ("reserve", "gate_wait", "release"),
        WAIT,
    ),
    "everything else": (
        ("auxiliary", "queue", "ready_wait", "other"),
        OTHER_JOBS,
    ),
}
# Of a group of several parts each has a name of its own.
_PARTS = {
    "reserve": "setting up the reservation",
    "gate_wait": "waiting at the gate",
    "release": "giving back the reservation",
    "auxiliary": "other jobs of Pegasus",
    "queue": "queueing",
    "ready_wait": "waiting for a slot",
    "other": "engine",
}
_MAKESPAN = "makespan"
_COLUMNS = (
    Column("name", "side"),
    Column("what", "part"),
    Column("seconds", "took", "s"),
)
_BAR = 36  # pixels
# The axis is longer than the bars, by some 95 pixels for the text at their ends.
_END = "[0, {longest} * width / max(100, width - 95)]"


def where_time_went(found: Comparison) -> Figure:
    """Draw a bar for each side; its length is the makespan."""
    rows = [row for side in found.sides for row in _rows(found, side)]
    if not any(row["what"] != _MAKESPAN and row["seconds"] for row in rows):
        return Figure("bought", _TITLE, _MISSING)
    seen = {row["group"] for row in rows if row["seconds"]}
    legend = tuple((c, name) for name, (_, c) in _GROUPS.items() if name in seen)
    tables = tuple(whole_run(found))
    return Figure(
        "bought", _TITLE, "", (_bars(rows, _caption(found)),), tables, legend=legend
    )


def _caption(found: Comparison) -> str:
    what = "Where each second of the makespan went"
    if not found.repeated:
        return f"{what}."
    numbers = dict.fromkeys(len(getattr(found, side)) for side in found.sides)
    runs = " and ".join(format_quantity(number, "runs") for number in numbers)
    return f"{what}; means of {runs}.{LINES[:-1]} of the makespan."


def _rows(found: Comparison, side: str) -> Iterator[DataRow]:
    for number, (group, (parts, _)) in enumerate(_GROUPS.items()):
        for part in parts:
            stat = getattr(found.clock[part], side)
            if stat is not None and stat.mean > 0:
                row = _row(side, _PARTS.get(part, group), stat)
                yield {**row, "group": group, "order": number}
    makespan = getattr(found.workflow[_MAKESPAN], side)
    if makespan is not None:
        low, high = (makespan.mean + s * (makespan.error or 0.0) for s in (-1, 1))
        ends = {"low": low, "high": high}
        yield {**_row(side, _MAKESPAN, makespan), "group": "", **ends}


def _row(side: str, what: str, stat: Stat) -> DataRow:
    return {"name": SIDES[side], "what": what, "seconds": stat.mean}


def _bars(rows: list[DataRow], caption: str) -> Chart:
    data = Dataset(_COLUMNS, rows)
    names = list(dict.fromkeys(row["name"] for row in rows))
    longest = max(row.get("high", row["seconds"]) for row in rows)
    domain = alt.ExprRef(expr=_END.format(longest=longest))
    x = axis(alt.X, "seconds", "s", grid=False, domain=domain, nice=False)
    base = draw(data).encode(y=alt.Y("name:N", title=None, sort=names))
    colors = alt.Scale(domain=[*_GROUPS], range=[c for _, c in _GROUPS.values()])
    parts = base.transform_filter(f"datum.what != '{_MAKESPAN}'").encode(
        x=x.stack("zero"),
        color=alt.Color("group:N", scale=colors, legend=None),
        order="order:Q",
    )
    whole = base.transform_filter(f"datum.what == '{_MAKESPAN}'")
    layers: list[alt.Chart] = [
        parts.mark_bar(),
        whole.mark_text(align="left", dx=6, fontSize=13, fontWeight="bold").encode(
            x=alt.X("high:Q"), text="seconds_text:N"
        ),
    ]
    if any(row.get("high", 0.0) > row.get("low", 0.0) for row in rows):
        layers.append(whole.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q"))
    label = "Makespan of each side by what went on; the table has the numbers"
    return chart(alt.layer(*layers), label, _BAR * len(names), data=data, title=caption)
