"""What staging and reserving cost against what they won, and when that pays.

From means over repetitions, of seconds by the clock (clock.py): what went on beside the
users' jobs cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pegasus_bb.report.stats import Pair
from pegasus_bb.units import format_size

RUNS = (
    "runs = (staging in + reserving) / (won - staging out): how often the workflow has "
    "to run on what is staged in once, and kept, until that is won back."
)
FOOTPRINT = (
    "footprint = reserving / (won - staging in - staging out) x the footprint of these "
    "runs: gain and staging grow with the data, reserving does not."
)


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Seconds by the clock, and what follows from them."""

    won: float  # that the users' jobs took less on the burst buffer
    staging_in: float  # that this took more there, and so on
    staging_out: float
    reserving: float  # asking, waiting at the gate, giving back
    rest: float  # queueing, other jobs, the engine: not charged to staging
    footprint_now: float | None  # bytes of these runs' files

    @property
    def net(self) -> float:
        """What the burst buffer brought in all: the difference of the makespans."""
        staging = self.staging_in + self.staging_out
        return self.won - staging - self.reserving - self.rest

    @property
    def runs(self) -> float | None:
        """As RUNS has it; None where it never pays."""
        once = self.staging_in + self.reserving
        return _until(once, self.won - self.staging_out)

    @property
    def footprint(self) -> float | None:
        """Bytes, as FOOTPRINT has it; None where it never pays, or is unknown."""
        grows = self.won - self.staging_in - self.staging_out
        times = _until(self.reserving, grows)
        if times is None or self.footprint_now is None:
            return None
        return times * self.footprint_now

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a reader makes of it, and how it was computed."""
        return (*self._on_runs(), *self._on_footprint())

    def _on_runs(self) -> Iterator[str]:
        if self.runs is None:
            yield "runs: never: a run wins no more than its staging out takes. " + RUNS
        elif self.runs <= 1:
            yield f"runs: {self.runs:.2f}: one run pays. " + RUNS
        else:
            needed = math.ceil(self.runs)
            yield f"runs: {self.runs:.2f}: it pays with run {needed}. " + RUNS

    def _on_footprint(self) -> Iterator[str]:
        if self.won <= self.staging_in + self.staging_out:
            yield "footprint: none: staging takes what is won. " + FOOTPRINT
        elif self.footprint is None or self.footprint_now is None:
            yield "footprint: unknown, for no size of a file is. " + FOOTPRINT
        else:
            least, now = format_size(round(self.footprint)), round(self.footprint_now)
            yield (
                f"footprint: {least}; that of these runs is {format_size(now)}. "
                f"{FOOTPRINT}"
            )


def break_even(clock: Mapping[str, Pair], footprint: Pair) -> BreakEven | None:
    """Of parts by the clock, and of bytes; None where a side has no records."""
    if any(pair.pfs is None or pair.bb is None for pair in clock.values()):
        return None
    known = footprint.bb or footprint.pfs
    return BreakEven(
        won=0.0 - _more(clock, "compute"),
        staging_in=_more(clock, "stage_in"),
        staging_out=_more(clock, "stage_out"),
        reserving=_more(clock, "reserve", "gate_wait", "release"),
        rest=_more(clock, "auxiliary", "queue", "ready_wait", "other"),
        footprint_now=known.mean if known else None,
    )


def _more(clock: Mapping[str, Pair], *parts: str) -> float:
    """Seconds that those took more on the burst buffer."""
    pairs = [clock[part] for part in parts]
    return math.fsum(p.bb.mean - p.pfs.mean for p in pairs if p.bb and p.pfs)


def _until(cost: float, gain: float) -> float | None:
    """How much of a gain pays for a cost; None: none does."""
    return max(0.0, cost) / gain if gain > 0 else None
