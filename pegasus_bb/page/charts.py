"""What all charts share: Altair makes Vega-Lite specifications, the page draws them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from pegasus_bb.model.readable import readable
from pegasus_bb.model.stat import Pair, Stat
from pegasus_bb.page.dataset import Dataset

Drawing = alt.Chart | alt.LayerChart | alt.FacetChart

SIDES = ("PFS", "burst buffer")
# The page's CSS has two sets of these colors: for light and for dark screens.
PFS, BUFFER, WAIT, STAGE_IN, STAGE_OUT, ALERT, INK, LINE, SOFT = (
    *("var(--pfs)", "var(--tier)", "var(--wait)", "var(--stage)", "var(--stage-out)"),
    *("var(--mark)", "var(--ink)", "var(--line)", "var(--soft)"),
)
_COLORS, _SHAPES = (PFS, BUFFER, STAGE_IN, WAIT), ("triangle-up", "square", "diamond")
_TEXT = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12}
_LINES = {"gridColor": LINE, "domainColor": LINE, "tickColor": LINE}
CONFIG: Mapping[str, Any] = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": LINE},
    "axis": {**_TEXT, **_LINES, "titleFontWeight": "normal", "labelLimit": 170},
    "axisX": {"labelOverlap": True, "labelAngle": 0},
    "axisY": {"minExtent": 40},
    "axisQuantitative": {"tickCount": 6},
    "legend": {**_TEXT, "orient": "top", "columns": 3, "title": None},
    "text": {"fill": INK},
    "bar": {"fill": BUFFER},
    "area": {"fill": BUFFER, "fillOpacity": 0.7, "interpolate": "step-after"},
    "rule": {"stroke": INK},
    "errorbar": {"rule": {"stroke": INK}},
}


@dataclass(frozen=True, slots=True)
class Chart:
    """A Vega-Lite specification, and what it shows for a reader without pictures."""

    label: str
    spec: Mapping[str, Any]
    title: str = ""  # above the chart


def draw(name: str, data: Dataset) -> alt.Chart:
    """An empty chart of the dataset of that name; tooltips have its shown columns."""
    tooltip = [alt.Tooltip(f"{c.key}_text:N", title=c.title) for c in data.shown]
    found: alt.Chart = alt.Chart(alt.NamedData(name=name)).encode(tooltip=tooltip)
    return found


def chart(
    drawing: Drawing, label: str, height: int, title: str = "", **data: Dataset
) -> Chart:
    """``drawing`` as wide as the page, with the rows of its datasets.

    Rows are added last: Altair would spend seconds on validating thousands of them.
    """
    label = readable(label)
    sized = drawing.properties(width="container", height=height, description=label)
    datasets = {name: each.records() for name, each in data.items()}
    return Chart(label, {**sized.to_dict(), "datasets": datasets}, title)


def sides(pair: Pair) -> Iterator[tuple[str, Stat]]:
    """The sides that were measured: their names and values."""
    for name, stat in zip(SIDES, (pair.pfs, pair.bb), strict=True):
        if stat:
            yield name, stat


def series_color(names: Sequence[str]) -> alt.Color:
    """A color for each of ``names``, which are values of the column ``series``."""
    return alt.Color("series:N", scale=_scale(names, _COLORS))


def series_shape(names: Sequence[str]) -> alt.Shape:
    """A shape for each of ``names``, for readers who cannot tell the colors apart."""
    return alt.Shape("series:N", scale=_scale(names, _SHAPES))


def _scale(names: Sequence[str], of: Sequence[str]) -> alt.Scale:
    shown = [of[number % len(of)] for number in range(len(names))]
    return alt.Scale(domain=list(names), range=shown)
