"""Where a value stands on an axis, and the marks of that axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pegasus_bb.page.said import said

_WIDE = 50.0  # from this on, largest to smallest, an axis is logarithmic
_STEPS = 5


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places in a picture."""

    low: float
    high: float
    begin: float  # where ``low`` is drawn
    end: float
    unit: str
    base: float = 0.0  # of the logarithm; 0: linear

    def at(self, value: float) -> float:
        """The place of ``value``."""
        low, high, value = (self._turned(v) for v in (self.low, self.high, value))
        share = (value - low) / (high - low)
        return round(self.begin + share * (self.end - self.begin), 2)

    def _turned(self, value: float) -> float:
        return math.log(max(value, self.low), self.base) if self.base else value

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """A few marks at round values."""
        values = self._powers() if self.base else self._round()
        return tuple(Tick(self.at(value), said(value, self.unit)) for value in values)

    def _round(self) -> Iterator[float]:
        step = _nice((self.high - self.low) / _STEPS, self.unit)
        for number in range(int((self.high - self.low) / step + 1e-9) + 1):
            yield self.low + number * step

    def _powers(self) -> Iterator[float]:
        first, last = (round(self._turned(v)) for v in (self.low, self.high))
        every = max(1, -(-(last - first) // (_STEPS + 1)))
        yield from (self.base**power for power in range(first, last + 1, every))


def from_zero(values: Iterable[float], begin: float, end: float, unit: str) -> Scale:
    """A linear axis from zero to a round value above all ``values``."""
    most = max(values, default=0.0) or 1.0
    step = _nice(most / _STEPS, unit)
    return Scale(0.0, step * math.ceil(most / step - 1e-9), begin, end, unit)


def spread(values: Iterable[float], begin: float, end: float, unit: str) -> Scale:
    """Logarithmic where the values are of many magnitudes, else from zero."""
    found = [value for value in values if value > 0]
    if not found or max(found) / min(found) < _WIDE:
        return from_zero(found, begin, end, unit)
    base = 1024.0**0.5 if unit.startswith("B") else 10.0
    return _powers_of(base, found, begin, end, unit)


def doubling(values: Iterable[float], begin: float, end: float, unit: str) -> Scale:
    """An axis on which each step is twice the one before: numbers of processes."""
    return _powers_of(2.0, list(values), begin, end, unit)


def _powers_of(
    base: float, values: list[float], begin: float, end: float, unit: str
) -> Scale:
    first = math.floor(math.log(min(values), base) + 1e-9)
    last = max(first + 1, math.ceil(math.log(max(values), base) - 1e-9))
    return Scale(base**first, base**last, begin, end, unit, base)


def _nice(step: float, unit: str) -> float:
    """The next round value: 1, 2 or 5 of a decimal power; of bytes a power of two."""
    if unit.startswith("B"):
        return float(2 ** max(0, math.ceil(math.log2(step))))
    power = 10.0 ** math.floor(math.log10(step))
    return next(f * power for f in (1.0, 2.0, 5.0, 10.0) if f * power >= step * 0.999)
