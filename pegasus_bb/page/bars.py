"""Bars on their sides: a few for each name, in one or in several parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pegasus_bb.page.plot import (
    Mark,
    Panel,
    Plot,
    Text,
    lying_whisker,
    rectangle,
)
from pegasus_bb.page.scale import Scale, from_zero

WIDTH, _LEFT, _RIGHT = 900, 300, 40
_BAR, _GAP, _TOP = 14, 10, 8
_LETTERS = 34  # that fit left of the bars


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar."""

    value: float
    style: str
    title: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, its parts from left to right."""

    name: str
    parts: tuple[Part, ...]
    error: float | None = None  # of the whole
    apart: bool = False  # whether another name's bars begin with it

    @property
    def whole(self) -> float:
        return sum(part.value for part in self.parts)


def bars(
    found: Sequence[Bar], unit: str, label: str, key: tuple[tuple[Mark, str], ...]
) -> Plot:
    """A drawing of all of them."""
    most = [bar.whole + (bar.error or 0.0) for bar in found]
    across = from_zero(most, _LEFT, WIDTH - _RIGHT, unit)
    places = list(_places(found))
    height = places[-1] + _BAR + _GAP - _TOP
    marks = [
        m for b, y in zip(found, places, strict=True) for m in _marks(b, y, across)
    ]
    names = zip(found, places, strict=True)
    texts = [Text(_LEFT - 8, y + _BAR - 3, _cut(b.name), "end") for b, y in names]
    panel = Panel(
        _LEFT,
        _TOP,
        WIDTH - _LEFT - _RIGHT,
        height,
        tuple(marks),
        across.ticks,
        (),
        tuple(texts),
    )
    return Plot(WIDTH, _TOP + height + 30, (panel,), label, key)


def _places(found: Sequence[Bar]) -> Iterator[float]:
    y = float(_TOP + 4)
    for number, bar in enumerate(found):
        if number and bar.apart:
            y += _GAP
        yield y
        y += _BAR + 2


def _marks(bar: Bar, y: float, across: Scale) -> Iterator[Mark]:
    begun = 0.0
    for part in bar.parts:
        left, right = across.at(begun), across.at(begun + part.value)
        yield Mark(rectangle(left, y, right - left, _BAR), part.style, part.title)
        begun += part.value
    if bar.error is not None:
        ends = across.at(max(0.0, begun - bar.error)), across.at(begun + bar.error)
        yield Mark(lying_whisker(y + _BAR / 2, *ends), "error")


def _cut(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}\u2026"
