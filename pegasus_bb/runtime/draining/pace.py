"""A pace for the copies of one process: towards a deadline, and by turns at targets.

Segment k of N joins the targets' queues at start + k T/N, as in Tang et al. 2017; T is
the time that is left, and counts anew with each segment. A rate is a target with that
limit. Nothing here stops a copy: what goes wrong means full speed, and one word.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator

from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.units import MIB, format_size
from pegasus_bb.runtime.draining.curve import Curve
from pegasus_bb.runtime.draining.target_folder import Lease, Registry
from pegasus_bb.runtime.staging.segments import Segments

_PART = 0.25  # seconds of the rate that one segment has: a peak is that of a second
# bytes of a segment, unless a curve says its size
_LEAST = MIB
_MOST = 64 * MIB
_BEAT = 5.0  # seconds; a lease is renewed as often while its process waits


class DrainTargetPace(NamedTuple):
    """What is drained to. ``limit``: bytes per second; 0: the curve alone counts."""

    name: str
    folder: str  # of its registry
    limit: float = 0.0
    curve: Curve | None = None

    def seconds(self, size: int) -> float:
        """How long ``size`` bytes use it."""
        by_limit = size / self.limit if self.limit else 0.0
        return max(by_limit, self.curve.seconds(size) if self.curve else 0.0)

    def is_overloaded(self, load: float) -> bool:
        """Whether it cannot serve ``load`` bytes per second."""
        by_curve = self.curve is not None and self.curve.least(load) is None
        return by_curve or 0 < self.limit < load

    def segment(self, load: float) -> int:
        """Bytes of a segment at this load; 0: any will do."""
        if self.curve is None:
            return 0
        return (self.curve.least(load) or self.curve.upper) * self.curve.stripe


class Drain(NamedTuple):
    """What a process has to drain, and how."""

    run: str  # uuid
    size: int  # bytes
    seconds: float = 0.0  # from now on; 0: as fast as the targets allow
    targets: list[DrainTargetPace] = []  # noqa: RUF012 - never changed
    log: str = ""  # file that gets a line for each segment
    wait: float = 0.0  # of ``seconds``, until the first segment
    over: str = ""  # file that is there once the last job has computed: no time is left


def say_of_transfer(message: str) -> None:
    """In the output of the transfer job whose copies are paced."""
    print(f"transfer: drain: {message}", file=sys.stderr, flush=True)


class Pace(Segments):
    def __init__(
        self,
        drain: Drain,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        sleep: Callable[[float], None] | None = None,
        say: Callable[[str], None] = say_of_transfer,
    ) -> None:
        """``clock`` is for the deadline, ``wall`` is what other nodes have as well.
        ``say`` hears, once for each kind, what costs the pace."""
        self._tell = say
        self._drain = drain
        self._clock = clock
        self._wall = wall
        self._stopped = threading.Event()
        self._hurried = threading.Event()
        self._sleep = sleep or self._doze
        self._rest = sleep or self._doze_until_due
        self._queues = [
            (target, Registry(target.folder, wall, self._sleep))
            for target in drain.targets
        ]
        self._left = drain.size
        self._due = clock() + drain.wait
        self._deadline = clock() + drain.seconds
        self._asking = threading.Lock()
        self._logging = threading.Lock()
        self._said: list[str] = []  # kinds of words that were said

    @property
    def size(self) -> int:
        """Bytes of the next segment: those of eq. 8, else a part of a second."""
        known = [target.segment(queue.load) for target, queue in self._queues]
        if any(known):
            return max(known)
        limits = [target.limit for target, _ in self._queues if target.limit]
        if self._hurried.is_set() and not limits:
            return _MOST
        rate = min(limits) if limits else self._drain.size / (self._span or 1)
        return int(min(_MOST, max(_LEAST, rate * _PART)))

    @property
    def _span(self) -> float:
        """Seconds in which all goes."""
        return max(0.0, self._drain.seconds - self._drain.wait)

    @contextlib.contextmanager
    def take(self, size: int) -> Iterator[None]:
        """Wait for the turn of ``size`` bytes. Write them while it is open."""
        with self._asking:
            if size and not self._stopped.is_set():
                self._wait_until_due(size)
                for target, queue in list(self._queues):
                    self._wait_for_slot(target, queue, size)
            self._left = max(0, self._left - size)
        begin = self._wall()
        yield
        self._note(begin, size)

    @property
    def left(self) -> int:
        """Bytes whose turn has not come."""
        return self._left

    def spread(self, seconds: float) -> None:
        """What is left has so many seconds from now on."""
        self._deadline = self._clock() + seconds

    def hurry(self) -> None:
        """There is no time left: only the targets still hold it back."""
        self._hurried.set()
        self._deadline = self._clock()

    def stop(self) -> None:
        """From now on nothing waits."""
        self._stopped.set()
        self._hurried.set()

    def close(self) -> None:
        """Nothing more is to be drained: the shares are free for others."""
        for _, queue in self._queues:
            with contextlib.suppress(OSError):
                queue.leave()

    def _wait_until_due(self, size: int) -> None:
        """By the process's own schedule."""
        while self._clock() < self._due and not self._hurried.is_set():
            if self._drain.over and os.path.exists(self._drain.over):
                why = "the last job has computed earlier than predicted, so the last"
                self._say("over", f"{why} {format_size(self._left)} go at full speed")
                self.hurry()
                break
            for target, queue in list(self._queues):
                with self._at_full_speed(target):
                    queue.renew(self._lease())
            self._rest(min(_BEAT, self._due - self._clock()))
        now = self._clock()
        if now < self._deadline:
            self._due = now + size * (self._deadline - now) / max(size, self._left)
        elif self._drain.seconds and not self._hurried.is_set():
            left = format_size(self._left)
            self._say("late", f"late, so the last {left} go at full speed")

    def _wait_for_slot(
        self, target: DrainTargetPace, queue: Registry, size: int
    ) -> None:
        lease = self._lease(self._wall())
        with self._at_full_speed(target):
            while not self._stopped.is_set():
                wait = queue.ask(lease, target.seconds(size))
                if not wait:
                    break
                self._sleep(min(_BEAT, wait))
            if target.is_overloaded(queue.load):
                rate = format_size(int(queue.load))
                why = f"overloaded: {rate}/s are wanted, so results come late"
                self._say("overload", f"target {target.name} is {why}")

    def _lease(self, since: float | None = None) -> Lease:
        left = self._deadline - self._clock()
        deadline = self._wall() + left if self._drain.seconds else math.inf
        return Lease(self._drain.run, self._left, deadline, self._wall(), since)

    @contextlib.contextmanager
    def _at_full_speed(self, target: DrainTargetPace) -> Iterator[None]:
        """If the registry of ``target`` cannot be used, it counts no more. Others write
        to its folder, so that no error of it may reach a copy."""
        try:
            yield
        except Exception as error:
            why = error.strerror if isinstance(error, OSError) else repr(error)
            self._queues = [each for each in self._queues if each[0] is not target]
            place = f"{target.folder}: {why}"
            self._say(place, f"{place}; what goes to {target.name} goes at full speed")

    def _note(self, begin: float, size: int) -> None:
        """For the report. A line is lost rather than the copy."""
        if not self._drain.log or not size:
            return
        line = json.dumps([round(begin, 3), round(self._wall(), 3), size]) + "\n"
        try:
            with self._logging, open(self._drain.log, "a", encoding="ascii") as log:
                log.write(line)
        except OSError as error:
            why = f"{self._drain.log}: {error.strerror}; the report lacks segments"
            self._say("log", why)

    def _say(self, kind: str, message: str) -> None:
        if kind not in self._said:
            self._said.append(kind)
            self._tell(message)

    def _doze(self, seconds: float) -> None:
        self._stopped.wait(max(0.0, seconds))

    def _doze_until_due(self, seconds: float) -> None:
        self._hurried.wait(max(0.0, seconds))


def make_folder(path: str) -> None:
    """That of a run's own targets and logs. It may be there. An OSError shows where it
    is used."""
    with contextlib.suppress(OSError):
        os.makedirs(path, exist_ok=True)
