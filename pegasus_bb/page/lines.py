"""Lines over the number of processes: one for each tier or side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pegasus_bb.page.plot import Mark, Panel, Text, axes, line, symbol, whisker
from pegasus_bb.page.said import said
from pegasus_bb.page.scale import Scale, doubling


@dataclass(frozen=True, slots=True)
class Point:
    """A mean, with its standard error where there are several repetitions."""

    processes: int
    value: float
    error: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """All of one tier or side."""

    name: str
    style: str  # pfs | bb | tier2, ...
    points: tuple[Point, ...]


def lines(
    panel: tuple[float, float, float, float],
    found: Sequence[Line],
    head: str,
    up: Scale,
) -> Panel:
    """A panel at (x, y, width, height) with a line for each of ``found``."""
    x, y, width, height = panel
    widths = [point.processes for one in found for point in one.points]
    across = doubling(widths, x, x + width, "")
    marks = [mark for one in found for mark in _marks(one, across, up)]
    texts = [
        Text(x, y - 8, head, style="head"),
        Text(x + width, y + height + 34, "processes", "end"),
    ]
    return axes(panel, marks, across, up, texts)


def _marks(one: Line, across: Scale, up: Scale) -> Iterator[Mark]:
    places = [(across.at(p.processes), up.at(p.value)) for p in one.points]
    if len(places) > 1:
        yield Mark(line(places), f"{one.style} line")
    for point, (x, y) in zip(one.points, places, strict=True):
        if point.error is not None:
            low = up.at(max(0.0, point.value - point.error))
            yield Mark(whisker(x, up.at(point.value + point.error), low), "error")
        words = f"{one.name}, {said(point.processes, 'processes')}"
        title = f"{words}: {said(point.value, up.unit)}"
        yield Mark(symbol(one.style, x, y), one.style, title)


def highest(found: Iterable[Line]) -> list[float]:
    """What an upward axis must have room for."""
    points = (point for one in found for point in one.points)
    return [point.value + (point.error or 0.0) for point in points]
