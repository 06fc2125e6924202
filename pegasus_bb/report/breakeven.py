"""What the burst buffer saved and what it cost in a whole run, and its break-even.

All seconds are means over repetitions, by the clock (clock.py): what runs beside the
users' jobs costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pegasus_bb.model.stat import Pair
from pegasus_bb.units import format_seconds, format_size


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The parts of the difference between both sides, in seconds.

    A break-even exists only where the whole run gains (``net`` above 0), by more than
    repetitions differ.
    """

    won: float  # the users' jobs took this much less on the burst buffer
    staging_in: float  # this took so much more there; below 0: less
    staging_out: float
    reserving: float  # bb_setup, the wait at the gate, bb_delete
    rest: float  # queueing, Pegasus's auxiliary jobs, the engine
    footprint_now: float | None  # bytes of these runs' files
    is_beyond_scatter: bool = True  # the difference is more than repetitions differ

    @property
    def net(self) -> float:
        """The difference of the makespans; below 0 the burst buffer lost."""
        staging = self.staging_in + self.staging_out
        return self.won - staging - self.reserving - self.rest

    @property
    def _gains(self) -> bool:
        return self.net > 0 and self.is_beyond_scatter

    @property
    def runs(self) -> float | None:
        """Staging in and reserving as a part of what the run saves otherwise.

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
    def sentences(self) -> tuple[str, ...]:
        """The verdict, what it is made of, and the break-even if there is one."""
        return (self._verdict(), self._balance(), *self._break_even())

    def _verdict(self) -> str:
        if not self.is_beyond_scatter:
            return (
                f"The difference of {format_seconds(abs(self.net))} is within the "
                "scatter of the repetitions: there is no break-even."
            )
        if self.net > 0:
            return f"The burst buffer made the run {format_seconds(self.net)} shorter."
        if self.net < 0:
            return (
                f"The burst buffer made the run {format_seconds(-self.net)} longer: "
                "there is no break-even."
            )
        return "The run took as long with the burst buffer: there is no break-even."

    def _balance(self) -> str:
        parts = {
            "jobs": self.won,
            "staging in": -self.staging_in,
            "staging out": -self.staging_out,
            "reserving": -self.reserving,
            "queueing and all else": -self.rest,
        }
        saved = _listed(parts)
        cost = _listed({name: -s for name, s in parts.items()})
        it = "It" if self.is_beyond_scatter else "On average it"
        return f"{it} saved {saved}; it cost {cost} (each second counts once)."

    def _break_even(self) -> Iterator[str]:
        if self.runs is None:
            return
        yield (
            f"Break-even: staging in and reserving take {self.runs:.2f} of what the "
            "run saves otherwise."
        )
        if self.footprint is None or self.footprint_now is None:
            yield "Break-even in data: unknown, because no size of a file is known."
            return
        least, now = round(self.footprint), format_size(round(self.footprint_now))
        gains = f"from {format_size(least)} of files on" if least else "with any files"
        yield (
            f"Break-even in data: the run gains {gains}, if what it saves grows with "
            f"the data; these runs have {now}."
        )


def _listed(seconds: Mapping[str, float]) -> str:
    """Those above 0, as far as milliseconds tell."""
    shown = [
        f"{format_seconds(s)} in {name}" for name, s in seconds.items() if s > 1e-3
    ]
    return ", ".join(shown) or "nothing"


def break_even(
    clock: Mapping[str, Pair], footprint: Pair, is_beyond_scatter: bool = True
) -> BreakEven | None:
    """From the parts by the clock; None where a side has no records."""
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
        is_beyond_scatter=is_beyond_scatter,
    )


def _more(clock: Mapping[str, Pair], *parts: str) -> float:
    pairs = [clock[part] for part in parts]
    return math.fsum(p.bb.mean - p.pfs.mean for p in pairs if p.bb and p.pfs)
