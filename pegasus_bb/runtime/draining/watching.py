"""Watches a folder until it is told to end, and drains the dumps that it sees."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from pegasus_bb.core.units import abbreviate
from pegasus_bb.runtime.draining.drainer import Drainer
from pegasus_bb.runtime.draining.dumps import Bursts
from pegasus_bb.runtime.draining.scan import Say, scan
from pegasus_bb.runtime.staging.failures import on_a_line

_OFTEN = 1.0  # seconds between two looks, at most
_PART = 0.2  # of the seconds after which a burst is over
_LIGHT = 10.0  # times as long as a look takes, it rests
_LAST = 2.0  # times those seconds, what is still written has to come to rest at the end


class Watching:
    def __init__(
        self, folder: str, quiet: float, bursts: Bursts, drainer: Drainer, say: Say
    ) -> None:
        """``quiet``: the seconds of ``bursts``. ``say`` hears a word once."""
        self._folder = folder
        self._quiet = quiet
        self._bursts = bursts
        self._drainer = drainer
        self._say = say
        self._said: set[str] = set()
        self._is_told = False

    def end(self) -> None:
        """Drain what is complete, or will be in a moment, at full speed, and return
        from ``run``. The handler of a signal may call it."""
        self._is_told = True

    def run(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> bool:
        """Whether all dumps are safe in the end."""
        self._drainer.start()
        until = math.inf
        while True:
            is_told = self._is_told
            if is_told and until == math.inf:
                self._drainer.hurry()
                until = clock() + self._quiet * _LAST
            pause = self._look(clock)
            if is_told and (not self._bursts.going_on or clock() >= until):
                break
            sleep(pause)
        self._tell_of_rest()
        return self._finish()

    def _look(self, clock: Callable[[], float]) -> float:
        """Seconds until the next one."""
        begun = clock()
        found = scan(self._folder, self._say_once)
        now = clock()
        dump = self._bursts.look(found, now)
        if dump is not None:
            self._drainer.give(dump)
        if self._drainer.fault is not None:
            raise self._drainer.fault
        return max(min(_OFTEN, self._quiet * _PART), _LIGHT * (now - begun))

    def _finish(self) -> bool:
        self._drainer.end()
        while not self._drainer.ended.wait(_OFTEN):
            pass  # so that a signal can be handled
        if self._drainer.fault is not None:
            raise self._drainer.fault
        return not self._drainer.unsafe()

    def _tell_of_rest(self) -> None:
        rest = self._bursts.unfinished
        if rest:
            names = abbreviate([on_a_line(path) for path in rest])
            self._say(f"{names}: still written at the end, so left where they are")

    def _say_once(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self._say(message)
