"""Repetitions, in rounds: each round does every cell once that is not sure yet.

So the repetitions of a cell lie far apart, and tiers take turns: a machine that others
use is never equally fast twice. Where the time ends, all cells have had their share.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from pegasus_bb.bench.cache import Cache, drop
from pegasus_bb.bench.engine import Engine, TimeIsUp
from pegasus_bb.bench.measuring import Limits, Measuring
from pegasus_bb.bench.plan import Mode
from pegasus_bb.errors import NotMeasured
from pegasus_bb.removal import remove
from pegasus_bb.units import format_size

Clock = Callable[[], float]
Tell = Callable[[Measuring, int, int], None]  # what is next; repetitions done, to do


class Rounds:
    """Fills measurings in, with one engine."""

    def __init__(
        self,
        engine: Engine,
        folders: Mapping[str, str],  # tier -> our folder there
        limits: Limits,
        tell: Tell = lambda *_: None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._engine = engine
        self._folders = folders
        self._limits = limits
        self._tell = tell
        self._clock = clock
        self._pace: dict[str, tuple[int, float]] = {}  # tier -> bytes took seconds
        self._done = 0

    def run(self, measurings: Sequence[Measuring]) -> None:
        """Until all are settled, or the time is up.

        Raises NotMeasured: a process failed, or the tier has no room any more.
        """
        waiting = list(measurings)
        while waiting and self._round(waiting):
            waiting = [one for one in waiting if not one.settled(self._limits)]

    def _round(self, waiting: Sequence[Measuring]) -> bool:
        """Whether any was done: where none was, there is no time for another."""
        done = 0
        for number, one in enumerate(waiting):
            if self._clock() + self._foreseen(one) > self._limits.until:
                continue
            self._tell(one, self._done, self._done + len(waiting) - number)
            done += self._repeat(one)
        return done > 0

    def _foreseen(self, one: Measuring) -> float:
        """Seconds of the next repetition; by other cells where it is the first."""
        size, seconds = self._pace.get(one.place.name, (one.cell.total, 0.0))
        return one.seconds or seconds * max(1.0, one.cell.total / size)

    def _repeat(self, one: Measuring) -> bool:
        """Whether there was time enough."""
        begun = self._clock()
        _check_room(one)
        folder = os.path.join(self._folders[one.place.name], "data")
        try:
            try:
                os.mkdir(folder)
                write, cache, read = self._both(one, folder)
            finally:
                remove(folder)
        except TimeIsUp:
            return False
        except (OSError, NotMeasured) as error:
            raise NotMeasured(f"tier {one.place.name}, {one.cell}: {error}") from error
        seconds = self._clock() - begun
        one.add(write, read, cache, seconds)
        self._note_pace(one, seconds)
        return True

    def _both(self, one: Measuring, folder: str) -> tuple[float, Cache, float]:
        """Write, forget, read."""
        until = self._limits.until + self._limits.grace
        write = self._engine.write(one.cell, folder, until)
        cache = drop(folder)
        read = self._engine.read(one.cell, folder, until)
        return write, _known(one, cache), read

    def _note_pace(self, one: Measuring, seconds: float) -> None:
        """Large cells foretell large ones best."""
        self._done += 1
        size, _ = self._pace.get(one.place.name, (0, 0.0))
        if one.cell.total >= size:
            self._pace[one.place.name] = one.cell.total, seconds


def _known(one: Measuring, cache: Cache) -> Cache:
    if one.place.in_memory:
        return Cache.MEMORY
    return Cache.PAST if one.cell.mode is Mode.DIRECT else cache


def _check_room(one: Measuring) -> None:
    room = one.place.room()
    if one.cell.total > room:
        raise NotMeasured(
            f"tier {one.place.name}, {one.cell}: there is room for "
            f"{format_size(room)} only by now; others write to {one.place.path}"
        )
