"""Live bytes on the tier, level by level, against what is reserved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pegasus_bb.units import format_size

HEIGHT, _LEFT, _TOP, _BOTTOM = 220, 90, 12, 34
_WIDEST, _NARROWEST, _ALL = 60.0, 2.0, 860.0
_LINES = 4
_NUMBERED = 30  # levels with a number below them


@dataclass(frozen=True, slots=True)
class Bar:
    """One level."""

    x: float
    y: float
    width: float
    height: float
    level: int
    title: str
    is_numbered: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A horizontal line with its text."""

    y: float
    text: str


@dataclass(frozen=True)
class Chart:
    """All of it, with its width."""

    width: float
    bars: tuple[Bar, ...]
    grid: tuple[Line, ...]
    capacity: Line | None


def chart(live: Sequence[int], capacity: int | None) -> Chart:
    """``live`` are bytes in each level, clean-ups between them done at once."""
    top = max([*live, capacity or 0, 1])
    room = HEIGHT - _TOP - _BOTTOM
    step = min(_WIDEST, max(_NARROWEST, (_ALL - _LEFT) / max(1, len(live))))
    every = -(-len(live) // _NUMBERED) or 1

    def height(size: float) -> float:
        return _TOP + room * (1 - size / top)

    bars = tuple(
        Bar(
            x=round(_LEFT + index * step, 2),
            y=round(height(size), 2),
            width=round(max(1.0, step * 0.8), 2),
            height=round(room * size / top, 2),
            level=index + 1,
            title=f"level {index + 1}: {format_size(size)}",
            is_numbered=index % every == 0,
        )
        for index, size in enumerate(live)
    )
    marks = (top * part / _LINES for part in range(_LINES + 1))
    grid = tuple(Line(round(height(m), 2), format_size(int(m))) for m in marks)
    reserved = None
    if capacity is not None:
        text = f"reserved: {format_size(capacity)}"
        reserved = Line(round(height(capacity), 2), text)
    width = _LEFT + step * len(live) + 20
    return Chart(max(width, 420.0), bars, grid, reserved)
