"""Forecasts beside what was measured, and the goals that they have together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

ERROR, LEFT_OUT, INSIDE, WIDTH = 0.25, 0.9, (0.8, 0.97), 2.0  # goals
SAME = 0.05  # of a makespan: a simulation is no better than that


@dataclass(frozen=True)
class Forecast:
    """A range, and runs that were measured, all in one unit."""

    what: str
    low: float
    high: float
    measured: Sequence[float]

    @property
    def error(self) -> float:
        """Of the nearer end, for the middle of the runs."""
        middle = median(self.measured)
        return min(max(middle, self.low), self.high) / middle - 1

    @property
    def error_of_middle(self) -> float:
        return math.sqrt(self.low * self.high) / median(self.measured) - 1

    @property
    def inside(self) -> list[bool]:
        """Of each run, whether the range holds it."""
        low, high = self.low * (1 - SAME), self.high * (1 + SAME)
        return [low <= one <= high for one in self.measured]

    def __str__(self) -> str:
        runs = ", ".join(f"{one:.4g}" for one in self.measured)
        beyond = f"  {self.inside.count(False)} outside" * (not all(self.inside))
        return (
            f"{self.what}: {self.low:.4g} to {self.high:.4g}, measured {runs} "
            f"({self.error:+.0%}){beyond}"
        )


@dataclass(frozen=True)
class Choice:
    """What ``auto`` took, and what it lost against the faster side: a part of that."""

    what: str
    mode: str
    reason: str
    loss: float
    error: float  # the standard error of the difference, as a part of the faster side

    @property
    def is_right(self) -> bool:
        """Whether it loses no more than SAME, as far as the runs tell; or keeps off,
        because a side has no run, and names the one that would tell."""
        is_open = self.mode == "off" and "settles it" in self.reason
        return is_open or self.loss <= SAME + self.error

    def __str__(self) -> str:
        lost = f", which loses {self.loss:.0%} +- {self.error:.0%}"
        lost = lost if self.loss > SAME else ""
        wrong = "" if self.is_right else "  WRONG"
        return f"{self.what}: auto takes {self.mode}{lost} ({self.reason}){wrong}"


def goals(
    left_out: Sequence[Forecast], public: Sequence[Forecast], choices: Sequence[Choice]
) -> Iterator[tuple[str, bool]]:
    """Yield each with whether it is met."""
    worst = max(abs(each.error) for each in left_out)
    yield (
        f"left out here: {_errors(left_out)} (goal: {ERROR:.0%})",
        worst <= ERROR,
    )
    inside = _inside(left_out)
    yield f"inside of its range {inside:.0%} (goal: {LEFT_OUT:.0%})", inside >= LEFT_OUT
    if public:
        inside = _inside(public)
        yield f"public runs: {_errors(public)}, inside of its range {inside:.0%}", True
    every = [*left_out, *public]
    least, most = INSIDE
    inside = _inside(every)
    yield (
        f"all: inside of its range {inside:.0%} (goal: {least:.0%} to {most:.0%})",
        least <= inside <= most,
    )
    width = median(each.high / each.low for each in every)
    yield f"median width {width:.2f} (goal: {WIDTH:.1f})", width <= WIDTH
    right = [choice.is_right for choice in choices]
    yield f"right choices {sum(right)} of {len(right)} (goal: all)", all(right)


def _errors(forecasts: Sequence[Forecast]) -> str:
    errors = [abs(each.error) for each in forecasts]
    middle = median(abs(each.error_of_middle) for each in forecasts)
    return (
        f"median error {median(errors):.0%}, worst {max(errors):.0%}, of the middle "
        f"{middle:.0%}"
    )


def _inside(forecasts: Sequence[Forecast]) -> float:
    found = [one for each in forecasts for one in each.inside]
    return sum(found) / len(found)
