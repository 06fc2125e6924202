"""What a drawing is made of: panels with axes, and marks in them.

Units are those of an SVG picture. Nothing here knows what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pegasus_bb.page.scale import Scale, Tick

SIDES = {"pfs": "PFS", "bb": "burst buffer"}


@dataclass(frozen=True, slots=True)
class Mark:
    """One shape, as an SVG path, with what it says to who points there."""

    path: str
    style: str  # classes of the page's style
    title: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Words in the drawing."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    style: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A rectangle with its axes; what has no axis has no ticks."""

    x: float
    y: float
    width: float
    height: float
    marks: tuple[Mark, ...]
    across: tuple[Tick, ...] = ()
    up: tuple[Tick, ...] = ()
    texts: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    """A whole drawing."""

    width: float
    height: float
    panels: tuple[Panel, ...]
    label: str  # for who does not see it
    key: tuple[tuple[Mark, str], ...] = ()  # a sample of each style, and what it means


def rectangle(x: float, y: float, width: float, height: float) -> str:
    """At least so large that it can be seen."""
    return f"M{x:g},{y:g}h{max(width, 1):g}v{max(height, 0.5):g}h-{max(width, 1):g}z"


def symbol(style: str, x: float, y: float, size: float = 4.0) -> str:
    """A triangle for the PFS, a square for the burst buffer, as in the paper; others
    for further tiers."""
    if style == "pfs":
        return f"M{x:g},{y - size:g}l{size:g},{1.8 * size:g}h-{2 * size:g}z"
    if style == "bb":
        return rectangle(x - size * 0.8, y - size * 0.8, size * 1.6, size * 1.6)
    if style == "tier3":
        right, left = f"l{size:g}", f"l-{size:g}"
        return f"M{x:g},{y - size:g}{right},{size:g}{left},{size:g}{left},-{size:g}z"
    half = f"a{size:g},{size:g} 0 0 1"
    return f"M{x - size:g},{y:g}{half} {2 * size:g},0{half} -{2 * size:g},0z"


def line(points: Iterable[tuple[float, float]]) -> str:
    """From point to point."""
    return "M" + " L".join(f"{x:g},{y:g}" for x, y in points)


def whisker(x: float, above: float, below: float) -> str:
    """An upright error bar."""
    return f"M{x:g},{above:g}V{below:g}M{x - 3:g},{above:g}h6M{x - 3:g},{below:g}h6"


def lying_whisker(y: float, left: float, right: float) -> str:
    """An error bar on its side."""
    return f"M{left:g},{y:g}H{right:g}M{left:g},{y - 3:g}v6M{right:g},{y - 3:g}v6"


def key_of(*styles: tuple[str, str]) -> tuple[tuple[Mark, str], ...]:
    """A small rectangle of each style, and what it means."""
    return tuple((Mark(rectangle(2, 2, 22, 9), s), words) for s, words in styles)


def key_of_sides() -> tuple[tuple[Mark, str], ...]:
    """The symbols of both sides."""
    return tuple(
        (Mark(symbol(side, 13, 6.5, 5), side), words) for side, words in SIDES.items()
    )


def axes(
    panel: tuple[float, float, float, float],
    marks: Iterable[Mark],
    across: Scale,
    up: Scale,
    texts: Iterable[Text] = (),
) -> Panel:
    """A panel at (x, y, width, height) with both axes."""
    return Panel(*panel, tuple(marks), across.ticks, up.ticks, tuple(texts))
