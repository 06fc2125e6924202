"""Bytes on an axis, in the binary units of the text beside it."""

from __future__ import annotations

import altair as alt

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_STEPS = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)
_MOST = 6  # steps


def byte_axis(highest: float) -> alt.Y:
    """The column ``size``, in bytes, from 0 to ``highest``."""
    unit, power = _unit(highest)
    size = 1024**power
    scaled = highest / size
    step = next((s for s in _STEPS if scaled / s <= _MOST), scaled / _MOST)
    values = [n * step * size for n in range(_MOST + 1) if n * step * size <= highest]
    labels = f"format(datum.value / {size}, '~g') + ' {unit}'"
    ticks = alt.Axis(values=values, labelExpr=labels)
    scale = alt.Scale(domainMin=0, domainMax=highest * 1.05, nice=False)
    return alt.Y("size:Q", title=None, axis=ticks, scale=scale)


def _unit(highest: float) -> tuple[str, int]:
    fitting = [n for n in range(len(_UNITS)) if 1024**n <= highest]
    power = max(fitting, default=0)
    return _UNITS[power], power
