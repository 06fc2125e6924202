"""Lines over the number of processes: one for each tier or side."""

from __future__ import annotations

import altair as alt

from pegasus_bb.page.charts import Chart, chart, draw, series_color, series_shape
from pegasus_bb.page.dataset import Dataset

_HEIGHT = 180


def line_chart(data: Dataset, title: str, value: str, highest: float = 0.0) -> Chart:
    """The column ``value`` by the columns ``processes`` and ``series``.

    Charts with the same ``highest`` value share an axis.
    """
    unit = data.unit(value)
    top = alt.Scale(domainMax=highest / unit.size) if highest else alt.Undefined
    names = list(dict.fromkeys(row["series"] for row in data.rows))
    base = draw("points", data).encode(
        x="processes:O",
        y=alt.Y(f"{value}:Q", title=unit.name, scale=top),
    )
    color, error = series_color(names), f"{value}_error"
    layers = [
        base.mark_line().encode(color=color),
        base.mark_point(filled=True, size=60).encode(
            color=color, shape=series_shape(names)
        ),
    ]
    if any(row.get(error) for row in data.rows):
        layers.append(base.mark_errorbar().encode(yError=f"{error}:Q"))
    return chart(alt.layer(*layers), title, _HEIGHT, title, points=data)
