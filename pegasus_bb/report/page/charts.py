"""What charts share: Altair makes Vega-Lite specifications, the page draws them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import altair as alt

from pegasus_bb.core.text import readable
from pegasus_bb.model.mean_and_error import Pair, Stat
from pegasus_bb.report.page.figure import Chart, DataRow, Dataset
from pegasus_bb.report.report_document import SIDES

Drawing: TypeAlias = "alt.Chart | alt.LayerChart | alt.FacetChart"
Drawn = TypeVar("Drawn", alt.Chart, alt.LayerChart)
Channel = TypeVar("Channel", alt.X, alt.Y)

NAMES = tuple(SIDES.values())
# The page's CSS has two sets of these colors: for light and for dark screens.
PFS = "var(--pfs)"
BUFFER = "var(--tier)"
WAIT = "var(--wait)"
STAGE_IN = "var(--stage)"
STAGE_OUT = "var(--stage-out)"
ALERT = "var(--mark)"
INK = "var(--ink)"
LINE = "var(--line)"
SOFT = "var(--soft)"
PAPER = "var(--paper)"
COMPUTE = "var(--compute)"
OTHER_JOBS = "var(--other)"
REST = "var(--rest)"
JOBS = tuple(f"var(--job{number})" for number in range(1, 9))  # of transformations
_COLORS = (PFS, BUFFER, STAGE_IN, WAIT)
_SHAPES = ("triangle-up", "square", "diamond")
LINES = " Lines are the standard error."
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
    "text": {"fill": INK, "fontSize": 12},
    "bar": {"fill": BUFFER},
    "area": {"fill": BUFFER, "fillOpacity": 0.7, "interpolate": "step-after"},
    "rule": {"stroke": INK},
    "errorbar": {"rule": {"stroke": INK}},
}
_AXES = {  # unit -> title and format of an axis
    "s": ("seconds", ""),
    "B": ("bytes", "~s"),
    "B/s": ("bytes per second", "~s"),
    "to one": ("user time / system time", ""),
}
# Seconds between two ticks; a narrow page has room for this many steps.
_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)
_MOST_STEPS = 5
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_BYTE_STEPS = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)
_MOST_BYTE_STEPS = 6  # steps
_SECONDS = "format(datum.value, '~g')"
_MINUTES = "floor(datum.value / 60) + ':' + format(datum.value % 60, '02')"
_HOURS = (
    "floor(datum.value / 3600) + ':' + format(floor(datum.value / 60) % 60, '02') + ':'"
    " + format(datum.value % 60, '02')"
)


def draw(data: Dataset) -> alt.Chart:
    """Make an empty chart of ``data``; tooltips have what is known."""
    tooltip = [alt.Tooltip(f"{c.key}_text:N", title=c.title) for c in data.known]
    found: alt.Chart = alt.Chart(alt.NamedData(name="rows")).encode(tooltip=tooltip)
    return found


def chart(
    drawing: Drawing,
    label: str,
    height: float,
    *,
    data: Dataset,
    title: str = "",
) -> Chart:
    """Fill ``drawing`` with the rows of ``data``; it is as wide as the page.

    Rows are added last: Altair would spend seconds on validating thousands of them.
    """
    label = readable(label)
    sized = drawing.properties(width="container", height=height, description=label)
    spec = {**sized.to_dict(), "datasets": {"rows": data.records()}}
    return Chart(label, spec, title)


def axis(
    channel: type[Channel], key: str, unit: str, *, grid: bool = True, **scale: Any
) -> Channel:
    """Put ``key`` on that channel; ``scale`` are settings of its alt.Scale. Without
    ``grid``, no line runs through text in the chart."""
    title, shown = _AXES.get(unit, (unit, ""))
    labels = alt.Axis(format=shown or alt.Undefined, grid=grid)
    return channel(f"{key}:Q", title=title, axis=labels, scale=alt.Scale(**scale))


def byte_axis(
    channel: type[Channel], key: str, highest: float, per: str = "", title: str = ""
) -> Channel:
    """Put the column ``key``, in bytes (``per`` is "/s" of a rate), on an axis from
    0."""
    fitting = [n for n in range(len(_BYTE_UNITS)) if 1024**n <= highest]
    power = max(fitting, default=0)
    unit = _BYTE_UNITS[power]
    size = 1024**power
    scaled = highest / size
    step = next(
        (s for s in _BYTE_STEPS if scaled / s <= _MOST_BYTE_STEPS),
        scaled / _MOST_BYTE_STEPS,
    )
    values = [
        n * step * size
        for n in range(_MOST_BYTE_STEPS + 1)
        if n * step * size <= highest
    ]
    labels = f"format(datum.value / {size}, '~g') + ' {unit}{per}'"
    ticks = alt.Axis(values=values, labelExpr=labels)
    scale = alt.Scale(domainMin=0, domainMax=highest * 1.05, nice=False)
    return channel(f"{key}:Q", title=title or None, axis=ticks, scale=scale)


def log_byte_axis(
    channel: type[Channel], key: str, lowest: float, highest: float, title: str
) -> Channel:
    """Put the column ``key``, in bytes above 0, on a logarithmic axis."""
    first = math.floor(math.log2(lowest))
    last = math.ceil(math.log2(highest))
    step = max(1, math.ceil((last - first) / _MOST_BYTE_STEPS))
    values = [2.0**n for n in range(first, last + 1, step)]
    ticks = alt.Axis(values=values, labelExpr="".join(_by_size()))
    scale = alt.Scale(type="log", domain=[lowest / 1.2, highest * 1.2], nice=False)
    return channel(f"{key}:Q", title=title, axis=ticks, scale=scale)


def _by_size() -> Iterator[str]:
    """Yield an expression that shows each value in the largest unit that it reaches."""
    for power in range(len(_BYTE_UNITS) - 1, 0, -1):
        size = 1024**power
        unit = _BYTE_UNITS[power]
        yield f"datum.value >= {size} ? format(datum.value / {size}, '~g') + ' {unit}'"
        yield " : "
    yield "datum.value + ' B'"


def over_time(drawing: Drawn, end: float, key: str) -> Drawn:
    """Put ``key``, in seconds from 0 to ``end``, across."""
    title, labels = _clock(end)
    ticks = alt.Axis(values=list(_ticks(end)), labelExpr=labels, labelBound=True)
    scale = alt.Scale(domain=[0, end], nice=False)
    across = alt.X(f"{key}:Q", title=title, scale=scale, axis=ticks)
    found: Drawn = drawing.encode(x=across)
    return found


def _clock(end: float) -> tuple[str, str]:
    """Return the title of an axis of time, and how its labels read."""
    if end < 120:
        return "seconds", _SECONDS
    return ("min:s", _MINUTES) if end < 7200 else ("hours:min:s", _HOURS)


def _ticks(end: float) -> Iterator[float]:
    """Yield the seconds of the ticks: 0, and at most ``_MOST_STEPS`` more."""
    days = 86400 * max(1, math.ceil(end / 86400 / _MOST_STEPS))
    fitting = (step for step in _STEPS if end / step <= _MOST_STEPS)
    step = next(fitting, days) if end >= 1 else end / 2 or 1
    yield from (number * step for number in range(int(end / step) + 1))


def sides(pair: Pair) -> Iterator[tuple[str, Stat]]:
    for name, stat in zip(NAMES, (pair.pfs, pair.bb), strict=True):
        if stat:
            yield name, stat


def drawn_sides(rows: Sequence[DataRow]) -> list[str]:
    return [side for side in NAMES if any(row["series"] == side for row in rows)]


def color(names: Sequence[str]) -> alt.Color:
    """Give each of ``names``, which are values of the column ``series``, a color."""
    return alt.Color("series:N", scale=_scale(names, _COLORS))


def shape(names: Sequence[str]) -> alt.Shape:
    """Give each of ``names`` a shape, for readers who cannot tell the colors apart."""
    return alt.Shape("series:N", scale=_scale(names, _SHAPES))


def _scale(names: Sequence[str], of: Sequence[str]) -> alt.Scale:
    """Assign looks: a side looks the same, whether the other is there or not."""
    places = (NAMES.index(n) if n in NAMES else at for at, n in enumerate(names))
    shown = [of[place % len(of)] for place in places]
    return alt.Scale(domain=list(names), range=shown)
