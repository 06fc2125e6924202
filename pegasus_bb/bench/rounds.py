"""Repetitions, in rounds: each round runs every cell once that is not certain yet.

The repetitions of a cell lie far apart and tiers take turns, so the load of other users
falls on all cells alike. If the time is up, every cell has had its share.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from pegasus_bb.bench.cache import Cache, drop
from pegasus_bb.bench.engine import Engine, TimeIsUp
from pegasus_bb.bench.measurement import Measurement
from pegasus_bb.errors import NotMeasured
from pegasus_bb.removal import remove
from pegasus_bb.units import format_size

Clock = Callable[[], float]
Tell = Callable[[Measurement, int, int], None]  # the next one; repetitions done, to do
_GRACE = 10.0  # seconds in which a phase may end that has begun in time


class Rounds:
    """Fills measurements in, with one engine."""

    def __init__(
        self,
        engine: Engine,
        folders: Mapping[str, str],  # tier -> our folder there
        until: float,
        tell: Tell = lambda *_: None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._engine = engine
        self._folders = folders
        self._until = until
        self._tell = tell
        self._clock = clock
        self._pace: dict[str, tuple[int, float]] = {}  # tier -> bytes took seconds
        self._done = 0

    def run(self, measurements: Sequence[Measurement]) -> None:
        """Run until all are finished, or the time is up.

        Raises NotMeasured if a process fails, or the tier has no room any more.
        """
        waiting = list(measurements)
        while waiting and self._round(waiting):
            waiting = [one for one in waiting if not one.finished]

    def _round(self, waiting: Sequence[Measurement]) -> bool:
        """False if there was time for no cell."""
        done = 0
        for number, one in enumerate(waiting):
            if self._clock() + self._predicted(one) > self._until:
                continue
            self._tell(one, self._done, self._done + len(waiting) - number)
            done += self._repeat(one)
        return done > 0

    def _predicted(self, one: Measurement) -> float:
        """Seconds of the next repetition; from another cell if it is the first."""
        size, seconds = self._pace.get(one.place.name, (one.cell.total, 0.0))
        return one.seconds or seconds * max(1.0, one.cell.total / size)

    def _repeat(self, one: Measurement) -> bool:
        """False if there was not enough time."""
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
        one.add(write, read, cache, self._clock() - begun)
        self._note_pace(one)
        return True

    def _both(self, one: Measurement, folder: str) -> tuple[float, Cache, float]:
        until = self._until + _GRACE
        write = self._engine.write(one.cell, folder, until)
        cache = drop(folder)
        read = self._engine.read(one.cell, folder, until)
        return write, Cache.MEMORY if one.place.in_memory else cache, read

    def _note_pace(self, one: Measurement) -> None:
        """The largest cell so far predicts larger ones best."""
        self._done += 1
        size, _ = self._pace.get(one.place.name, (0, 0.0))
        if one.cell.total >= size:
            self._pace[one.place.name] = one.cell.total, one.seconds


def _check_room(one: Measurement) -> None:
    room = one.place.room()
    if one.cell.total > room:
        raise NotMeasured(
            f"tier {one.place.name}, {one.cell}: only {format_size(room)} are left; "
            f"others write to {one.place.path}"
        )
