"""What the burst buffer saved and what it cost in a whole run, and its break-even.

All seconds are means over repetitions, by the clock (run_clock.py): what runs beside
the users' jobs costs nothing. Sentences have their standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pegasus_bb.core.units import format_measured, format_size
from pegasus_bb.model.mean_and_error import ALIKE, Pair, stat

# What sentences call the parts of the clock.
BALANCE: Mapping[str, tuple[str, ...]] = {
    "jobs": ("compute",),
    "staging in": ("stage_in",),
    "staging out": ("stage_out",),
    "the reservation": ("reserve", "gate_wait", "release"),
    "other jobs of Pegasus": ("auxiliary",),
    "queueing": ("queue",),
    "waiting for a slot": ("ready_wait",),
    "the engine": ("other",),
}
_REST = ("other jobs of Pegasus", "queueing", "waiting for a slot", "the engine")
RunClock = Mapping[str, float]  # run_clock.PARTS -> seconds; empty: unknown


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The parts of the difference between both sides, in seconds.

    A break-even exists only where the whole run gains (``net`` above 0), by more than
    repetitions differ.
    """

    balance: Mapping[str, Pair]  # BALANCE, seconds; both sides of each are known
    footprint_now: float | None  # bytes of these runs' files
    makespan: Pair
    is_alike: bool  # simulated, and nearer to each other than the model is
    forecast: str = ""  # of larger data, in a sentence

    @property
    def won(self) -> float:
        """Seconds that the users' jobs took less on the burst buffer."""
        return 0.0 - self._more("jobs")

    @property
    def staging_in(self) -> float:
        """Seconds that it took more there, as all below; negative if it took less."""
        return self._more("staging in")

    @property
    def staging_out(self) -> float:
        return self._more("staging out")

    @property
    def reserving(self) -> float:
        """bb_setup, the wait at the gate, bb_delete."""
        return self._more("the reservation")

    @property
    def rest(self) -> float:
        """Queueing, Pegasus's auxiliary jobs, the engine."""
        return self._more(*_REST)

    def _more(self, *parts: str) -> float:
        return math.fsum(self.balance[part].difference or 0.0 for part in parts)

    @property
    def is_beyond_scatter(self) -> bool:
        """Whether the difference is more than repetitions differ."""
        return self.makespan.beyond_error is not False

    @property
    def net(self) -> float:
        """The difference of the makespans; below 0 the burst buffer lost."""
        staging = self.staging_in + self.staging_out
        return self.won - staging - self.reserving - self.rest

    @property
    def _gains(self) -> bool:
        return self.net > 0 and self.is_beyond_scatter and not self.is_alike

    @property
    def runs(self) -> float | None:
        """Staging in and reserving as a share of what the run saves otherwise.

        It is at most 1, because one run has to win them back.
        """
        if not self._gains:
            return None
        once = max(0.0, self.staging_in + self.reserving)
        return once / (self.net + once)

    @property
    def footprint(self) -> float | None:
        """The least bytes of files with which a run gains; None if unknown."""
        if not self._gains or self.footprint_now is None:
            return None
        fixed = max(0.0, self.reserving + self.rest)
        return fixed / (self.net + fixed) * self.footprint_now

    @property
    def footprint_error(self) -> float | None:
        """The standard error of ``footprint``; None if a part has none.

        footprint = now * fixed / saved, with independent errors of both.
        """
        found = self.footprint
        fixed = self._error_of("the reservation", *_REST)
        saved = self._error_of("jobs", "staging in", "staging out")
        if not found or fixed is None or saved is None:
            return None
        cost = max(0.0, self.reserving + self.rest)
        return found * math.hypot(fixed / cost, saved / (self.net + cost))

    def _error_of(self, *parts: str) -> float | None:
        errors = [self.balance[part].difference_error for part in parts]
        known = [error for error in errors if error is not None]
        return math.hypot(*known) if len(known) == len(errors) else None

    def _least_data(self) -> str:
        least = round(self.footprint or 0)
        error = self.footprint_error
        if error is None:
            return f"{format_size(least)} (error unknown)"
        return f"{format_size(least)} \u00b1 {format_size(round(error))}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict, what it is made of, and the break-even if there is one."""
        more = (self.forecast,) if self.forecast else ()
        return (self._verdict(), *self._parts(), *self._break_even(), *more)

    def _verdict(self) -> str:
        took = format_measured(abs(self.net), self.makespan.difference_error)
        if self.is_alike:
            return f"Less than {ALIKE:.0%} is no gain or loss: there is no break-even."
        if not self.is_beyond_scatter:
            word = "shorter" if self.net > 0 else "longer"
            return (
                f"On average the burst buffer's runs were {took} {word}: within the "
                "scatter, so there is no break-even."
            )
        if self.net > 0:
            return f"The burst buffer made the run {took} shorter."
        if self.net < 0:
            return (
                f"The burst buffer made the run {took} longer: there is no break-even."
            )
        return "The run took as long with the burst buffer: there is no break-even."

    def _parts(self) -> Iterator[str]:
        """Say what it saved and cost (each second counts once), and what is within the
        scatter."""
        within = {k: p for k, p in self.balance.items() if p.beyond_error is False}
        beyond = {k: p for k, p in self.balance.items() if k not in within}
        if self.is_beyond_scatter:
            saved = _listed(beyond, -1)
            cost = _listed(beyond, 1)
            it = "Beyond the scatter it" if within else "It"
            yield f"{it} saved {saved}; it cost {cost} (each second counts once)."
        else:
            found = _both_ways(beyond)
            only = "only " if len(found) == 1 else ""
            yield f"Beyond the scatter is {only}{', '.join(found) or 'no part of it'}."
        if others := _both_ways(within):
            yield f"Within the scatter: {', '.join(others)}."

    def _break_even(self) -> Iterator[str]:
        if self.runs is None:
            return
        share = f"{self.runs * 100:.0f} %"
        yield (
            f"Staging in and the reservation cost {share} of what the run saves "
            "otherwise."
        )
        if self.footprint is None or self.footprint_now is None:
            yield "Break-even in data: unknown, because no size of a file is known."
            return
        least = round(self.footprint)
        now = format_size(round(self.footprint_now))
        gains = f"from {self._least_data()} of files on" if least else "with any files"
        yield (
            f"Break-even in data: the run gains {gains}, if what it saves grows with "
            f"the data; these runs have {now}."
        )


def _listed(parts: Mapping[str, Pair], sign: int) -> str:
    """List the differences of that sign, as far as milliseconds tell."""
    return ", ".join(_differences(parts, sign)) or "nothing"


def _both_ways(parts: Mapping[str, Pair]) -> list[str]:
    more, less = (
        _differences(parts, sign, word) for word, sign in ((" more", 1), (" less", -1))
    )
    return [*more, *less]


def _differences(parts: Mapping[str, Pair], sign: int, word: str = "") -> Iterator[str]:
    for name, pair in parts.items():
        seconds = sign * (pair.difference or 0.0)
        if seconds > 1e-3:
            took = format_measured(seconds, pair.difference_error)
            yield f"{took}{word} in {name}"


def break_even(
    pfs: Sequence[RunClock],
    bb: Sequence[RunClock],
    footprint: Pair,
    makespan: Pair,
    *,
    simulated: bool = False,
) -> BreakEven | None:
    """Compute it from the runs of each side by the clock; None if a side has no
    records."""
    known = footprint.bb or footprint.pfs
    balance = {name: _pair(parts, pfs, bb) for name, parts in BALANCE.items()}
    if any(pair.difference is None for pair in balance.values()):
        return None
    now = known.mean if known else None
    return BreakEven(balance, now, makespan, simulated and makespan.is_alike)


def _pair(parts: Sequence[str], *sides: Sequence[RunClock]) -> Pair:
    """Pair the sums of each run: their errors are not those of the parts."""
    return Pair(
        *(
            stat(math.fsum(run[part] for part in parts) for run in side if run)
            for side in sides
        )
    )
