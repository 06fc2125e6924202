"""Horizontal bars: a pair for each name, or one bar in parts."""

from __future__ import annotations

import altair as alt

from pegasus_bb.page.charts import (
    ALERT,
    LINE,
    SIDES,
    SOFT,
    STAGE_IN,
    WAIT,
    Chart,
    chart,
    draw,
    series_color,
)
from pegasus_bb.page.dataset import Column, Dataset

_BAR, _FRAME = 18, 12  # pixels
_FOR_TEXT = 1.4  # the axis is so much longer than the bars
_PARTS = {"read": STAGE_IN, "write": WAIT, "metadata": ALERT, "other": SOFT}


def pair_columns(name: str, title: str, unit: str) -> tuple[Column, ...]:
    """The columns of ``paired_bars``."""
    return (
        Column("name", name),
        Column("series", "side"),
        Column("mean", title, unit),
        Column("error", "standard error", unit, axis="mean"),
    )


def paired_bars(data: Dataset, label: str) -> Chart:
    """For each name a bar of each side, its standard error and its value."""
    unit = data.unit("mean")
    longest = max(row["mean"] + (row["error"] or 0.0) for row in data.rows) or 1.0
    scale = alt.Scale(domain=[0, _FOR_TEXT * longest / unit.size])
    base = draw("bars", data).encode(
        x=alt.X("mean:Q", title=unit.name, scale=scale),
        y=alt.Y("name:N", title=None, sort=None),
        yOffset=alt.YOffset("series:N", sort=list(SIDES)),
    )
    values = base.transform_calculate(high="datum.mean + datum.error")
    drawing = alt.layer(
        base.mark_bar().encode(color=series_color(SIDES)),
        base.mark_errorbar().encode(xError="error:Q"),
        values.mark_text(align="left", dx=5).encode(x="high:Q", text="mean_text:N"),
    )
    names = {row["name"] for row in data.rows}
    return chart(drawing, label, _FRAME + 2 * _BAR * len(names), bars=data)


def stacked_bars(data: Dataset, label: str) -> Chart:
    """A bar for each ``name``; its parts are columns that share the axis ``part``."""
    colors = alt.Scale(domain=list(_PARTS), range=list(_PARTS.values()))
    parts = draw("bars", data).transform_fold(list(_PARTS), as_=["part", "length"])
    drawing = parts.mark_bar(stroke=LINE).encode(
        x=alt.X("length:Q", title=data.unit("part").name),
        y=alt.Y("name:N", title=None, sort=None),
        color=alt.Color("part:N", scale=colors),
    )
    return chart(drawing, label, _FRAME + _BAR * len(data.rows), bars=data)
