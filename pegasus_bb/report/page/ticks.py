"""Bytes on an axis, in the binary units of the text beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import altair as alt

from pegasus_bb.report.page.charts import Channel

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_STEPS = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)
_MOST = 6  # steps


def byte_axis(
    channel: type[Channel], key: str, highest: float, per: str = "", title: str = ""
) -> Channel:
    """The column ``key``, in bytes (``per`` is "/s" of a rate), from 0."""
    unit, power = _unit(highest)
    size = 1024**power
    scaled = highest / size
    step = next((s for s in _STEPS if scaled / s <= _MOST), scaled / _MOST)
    values = [n * step * size for n in range(_MOST + 1) if n * step * size <= highest]
    labels = f"format(datum.value / {size}, '~g') + ' {unit}{per}'"
    ticks = alt.Axis(values=values, labelExpr=labels)
    scale = alt.Scale(domainMin=0, domainMax=highest * 1.05, nice=False)
    return channel(f"{key}:Q", title=title or None, axis=ticks, scale=scale)


def log_byte_axis(
    channel: type[Channel], key: str, lowest: float, highest: float, title: str
) -> Channel:
    """The column ``key``, in bytes above 0; a step has the same factor everywhere."""
    first = math.floor(math.log2(lowest))
    last = math.ceil(math.log2(highest))
    step = max(1, math.ceil((last - first) / _MOST))
    values = [2.0**n for n in range(first, last + 1, step)]
    ticks = alt.Axis(values=values, labelExpr="".join(_by_size()))
    scale = alt.Scale(type="log", domain=[lowest / 1.2, highest * 1.2], nice=False)
    return channel(f"{key}:Q", title=title, axis=ticks, scale=scale)


def _by_size() -> Iterator[str]:
    """An expression: each value in the largest unit that it reaches."""
    for power in range(len(_UNITS) - 1, 0, -1):
        size = 1024**power
        unit = _UNITS[power]
        yield f"datum.value >= {size} ? format(datum.value / {size}, '~g') + ' {unit}'"
        yield " : "
    yield "datum.value + ' B'"


def _unit(highest: float) -> tuple[str, int]:
    fitting = [n for n in range(len(_UNITS)) if 1024**n <= highest]
    power = max(fitting, default=0)
    return _UNITS[power], power
