"""Charts that several figures have: bars of both sides, stacked bars, lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import altair as alt

from pegasus_bb.model.mean_and_error import Pair
from pegasus_bb.report.page.charts import (
    LINE,
    NAMES,
    axis,
    byte_axis,
    chart,
    color,
    draw,
    drawn_sides,
    shape,
    sides,
)
from pegasus_bb.report.page.figure import Chart, Column, Dataset

# pixels
_BAR = 18
_FRAME = 12
_FOR_TEXT = 1.4  # the axis is so much longer than the bars


def paired_bars(
    title: str, unit: str, pairs: Mapping[str, Pair], label: str
) -> tuple[Dataset, Chart]:
    """Draw, for each transformation, a bar of each side, its standard error and its
    value."""
    columns = (
        Column("name", "transformation"),
        Column("series", "side"),
        Column("mean", title, unit),
        Column("error", "standard error", unit),
    )
    bars = [(each, *bar) for each, pair in pairs.items() for bar in sides(pair)]
    longest = max(stat.mean + (stat.error or 0.0) for _, _, stat in bars) or 1.0
    rows = [{"name": each, "series": side, **asdict(stat)} for each, side, stat in bars]
    data = Dataset(columns, rows)
    base = draw(data).encode(
        x=axis(alt.X, "mean", unit, grid=False, domain=[0, _FOR_TEXT * longest]),
        y=alt.Y("name:N", title=None, sort=None),
        yOffset=alt.YOffset("series:N", sort=list(NAMES)),
    )
    values = base.transform_calculate(high="datum.mean + datum.error")
    drawing = alt.layer(
        base.mark_bar().encode(color=color(drawn_sides(rows))),
        base.mark_errorbar().encode(xError="error:Q"),
        values.mark_text(align="left", dx=5).encode(x="high:Q", text="mean_text:N"),
    )
    return data, chart(drawing, label, _FRAME + 2 * _BAR * len(pairs), data=data)


def stacked_bars(data: Dataset, parts: Mapping[str, str], label: str) -> Chart:
    """Draw a bar in seconds for each ``name``; ``parts`` are keys and their colors."""
    scale = alt.Scale(domain=list(parts), range=list(parts.values()))
    folded = draw(data).transform_fold(list(parts), as_=["part", "length"])
    drawing = folded.mark_bar(stroke=LINE).encode(
        x=axis(alt.X, "length", "s"),
        y=alt.Y("name:N", title=None, sort=None),
        color=alt.Color("part:N", scale=scale),
    )
    return chart(drawing, label, _FRAME + _BAR * len(data.rows), data=data)


def line_chart(
    data: Dataset, title: str, key: str, unit: str, highest: float = 0.0
) -> Chart:
    """Draw the column ``key`` by the columns ``processes`` and ``series``.

    Charts with the same ``highest`` value share an axis.
    """
    ends = (row[key] + (row.get(f"{key}_error") or 0.0) for row in data.rows)
    names = list(dict.fromkeys(row["series"] for row in data.rows))
    y = axis(alt.Y, key, unit)
    if unit == "B/s":
        y = byte_axis(alt.Y, key, highest or max(ends), "/s")
    base = draw(data).encode(x="processes:O", y=y)
    points = base.mark_point(filled=True, size=60)
    layers: list[alt.Chart] = [
        base.mark_line().encode(color=color(names)),
        points.encode(color=color(names), shape=shape(names)),
    ]
    if any(row.get(f"{key}_error") for row in data.rows):
        layers.append(base.mark_errorbar().encode(yError=f"{key}_error:Q"))
    return chart(alt.layer(*layers), title, 180, data=data, title=title)
