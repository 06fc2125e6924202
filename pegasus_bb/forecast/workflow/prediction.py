"""What a run would take in a mode, as one number or as a range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from pegasus_bb.core.units import format_duration
from pegasus_bb.forecast.demands.demand import GROWTH
from pegasus_bb.model.history import History
from pegasus_bb.model.mean_and_error import ALIKE, NORMAL_90, log_squares, student_90

# The standard deviation of ln(makespan) from run to run that is assumed before any run,
# and counts as one run more (Smyth 2004, moderated t): the median of the 11 public
# workloads that ran five times each (WfCommons: blast, bwa, srasearch on Chameleon).
_USUAL = 0.09
# Why a makespan is a range, for a person, besides what the tasks ask for.
SCATTER = "how much equal runs differ"
RATES = "how far off the rates are"


@dataclass(frozen=True, slots=True)
class SimulatedEnd:
    """One simulated run: seconds of execution.PARTS, byte-hours."""

    parts: tuple[float, ...]
    byte_hours: float

    @property
    def makespan(self) -> float:
        return sum(self.parts)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The figures of one mode. Seconds by the clock: each belongs to the first of the
    parts that went on in it, jobs before staging. If it rests on a bound, parts are
    those in the middle of the range."""

    mode: str
    wait: float  # for the reservation, as long as in an earlier run
    stage_in: float
    compute: float  # a task ran, or was being started
    stage_out: float
    other: float  # reserving, folders, clean-ups
    byte_hours: float
    pessimistic: float  # makespan, if a faster place shortens the least
    optimistic: float  # and if the most
    is_guess: bool = False  # some of it rests on what other sites have seen
    is_measured: bool = False  # earlier runs in this mode say how long it takes
    share: float = 1.0  # of the least that was simulated, if runs took less
    is_doubted: bool = False  # runs of another mode took less than was simulated
    causes: tuple[str, ...] = ()  # why it may be a range
    # Seconds with one job at a time, if jobs compute for an unknown time.
    one_by_one: float | None = None

    @property
    def makespan(self) -> float:
        """Seconds from start to end, the wait for the reservation included."""
        return self.wait + self.stage_in + self.compute + self.stage_out + self.other

    @property
    def low(self) -> float:
        return min(self.pessimistic, self.optimistic)

    @property
    def high(self) -> float:
        return max(self.pessimistic, self.optimistic)

    @property
    def is_range(self) -> bool:
        return format_range(self.low, self.high) != format_duration(self.high)

    @property
    def range(self) -> str:
        """The makespan for a person: 35.0 s, or 20 to 35 s."""
        return format_range(self.low, self.high)

    def as_measured(
        self, makespans: Sequence[float], scatter: float = 1.0
    ) -> Prediction:
        """The same mode as runs of it were measured: ``makespans`` without the wait.

        What they took longer is other; what they took less makes every part shorter.
        The range has all of them, and the next run that differs as they do.
        """
        makespan = fmean(makespans)
        simulated = self.makespan - self.wait
        least = self.low - self.wait
        if makespan >= simulated:
            longer = replace(self, other=self.other + makespan - simulated)
        else:
            longer = self.with_parts_times(makespan / simulated)
        ends = [makespan * scatter, makespan / scatter, *makespans]
        grown = self._if_all_grows(makespans, scatter)
        return replace(
            longer,
            pessimistic=self.wait + max(*ends, *grown),
            optimistic=self.wait + min(*ends, *grown),
            is_guess=False,
            is_measured=True,
            share=min(1.0, makespan / least) if least > 0 else 1.0,
            causes=(GROWTH, SCATTER) if grown else (SCATTER,),
            one_by_one=None,
        )

    def with_parts_times(self, factor: float) -> Prediction:
        """Make every part, but the wait, so many times as long."""
        return replace(
            self,
            stage_in=self.stage_in * factor,
            compute=self.compute * factor,
            stage_out=self.stage_out * factor,
            other=self.other * factor,
        )

    def _if_all_grows(self, makespans: Sequence[float], scatter: float) -> list[float]:
        """What such a run takes if the work of its tasks grows as the files do that
        changed, where that is more than all bytes together say."""
        one = self.optimistic - self.wait  # none of it grows
        if GROWTH not in self.causes or one <= 0:
            return []
        more = (self.pessimistic - self.wait) / one
        longest = min(makespans) * more
        shortest = max(makespans) * more
        if longest > max(makespans):
            return [longest * scatter]
        return [shortest / scatter] if shortest < min(makespans) else []

    def with_scatter(self, factor: float) -> Prediction:
        """Widen the range by what runs of one workload differ."""
        low, high = self.low - self.wait, self.high - self.wait
        ends = self.wait + high * factor, self.wait + low / factor
        if self.pessimistic < self.optimistic:  # a faster tier lengthens it
            ends = ends[1], ends[0]
        found = replace(self, pessimistic=ends[0], optimistic=ends[1])
        return replace(found, causes=(*self.causes, SCATTER)) if factor > 1 else found

    def with_other(self, seconds: float) -> Prediction:
        """Add so many seconds, which no part of the model explains."""
        return replace(
            self,
            other=self.other + seconds,
            pessimistic=self.pessimistic + seconds,
            optimistic=self.optimistic + seconds,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "makespan": self.makespan,
            "low": self.low,
            "high": self.high,
        }


def predicted(
    mode: str, ends: Sequence[SimulatedEnd], *, is_guess: bool = False
) -> Prediction:
    """Combine the pessimistic and the optimistic end; of equal ends one is enough."""
    parts = [
        sum(part) / len(ends) for part in zip(*(e.parts for e in ends), strict=True)
    ]
    wait, compute, stage_in, stage_out, other = parts
    return Prediction(
        mode=mode,
        wait=wait,
        stage_in=stage_in,
        compute=compute,
        stage_out=stage_out,
        other=other,
        byte_hours=sum(end.byte_hours for end in ends) / len(ends),
        pessimistic=ends[0].makespan,
        optimistic=ends[-1].makespan,
        is_guess=is_guess,
    )


def format_range(low: float, high: float) -> str:
    """Write one duration if both read alike; whole seconds in a range below a
    minute."""
    alike = high - low <= ALIKE / 5 * high
    if alike or format_duration(low) == format_duration(high):
        return format_duration(high)
    if low >= 10 and high < 60 and f"{low:.0f}" != f"{high:.0f}":
        return f"{low:.0f} to {high:.0f} s"
    if high < 60:
        return f"{low:.1f} to {high:.1f} s"
    return f"{format_duration(low)} to {format_duration(high)}"


def scatter(history: History) -> float:
    """By which factor one further run in ten is longer or shorter than its forecast,
    from all runs that were repeated in their mode; the usual one if none was, and 1
    without a run. Few runs tell little of their own scatter (Student 1908), and their
    mean has an error too."""
    runs = (history, *history.others)
    groups = [group for group in _repeated(runs) if len(group) > 1]
    if not groups:
        is_known = any(run.makespan or run.had_retries for run in runs)
        return math.exp(NORMAL_90 * _USUAL * math.sqrt(2)) if is_known else 1.0
    squares, free = log_squares(groups)
    deviation = math.sqrt((squares + _USUAL**2) / (free + 1))
    each = sum(map(len, groups)) / len(groups)
    return math.exp(student_90(free + 1) * deviation * math.sqrt(1 + 1 / each))


def _repeated(runs: Iterable[History]) -> list[list[float]]:
    """The seconds of the runs of each workload: the same mode, as many tasks, files
    about as large. A run without sizes may be of any workload."""
    some = sorted(
        (run.mode, len(run.jobs), sum(run.sizes.values()), run.makespan)
        for run in runs
        if run.makespan and run.sizes
    )
    found: list[list[float]] = []
    first = "", 0, 0
    for mode, tasks, size, makespan in some:
        if (mode, tasks) != first[:2] or size > first[2] * (1 + ALIKE):
            first = mode, tasks, size
            found.append([])
        found[-1].append(makespan)
    return found
