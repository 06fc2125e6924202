"""How fast a worker moves bytes: its own rate, and its part of the rates of targets."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable

_BURST = 0.05  # seconds of the rate that may go at once
_LONGEST = 0.25  # seconds of one sleep: a cancellation takes effect soon
_REST = 10.0  # seconds at most that a worker waits for bytes of tasks that have ended
_SHORTEST = 0.001  # seconds: less might not move the clock

IsOver = Callable[[], bool]


class TokenBucket:
    """Paces the copying threads of one worker; its rate may change at any time."""

    def __init__(
        self,
        rate: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``rate``: bytes per second; 0: no limit."""
        self._rate, self._clock, self._sleep = rate, clock, sleep
        self._tokens, self._filled = rate * _BURST, clock()
        self._lock = threading.Lock()

    def set_rate(self, rate: float) -> None:
        """From now on ``rate`` bytes per second; 0: no limit."""
        with self._lock:
            self._fill()
            self._rate = rate
            self._tokens = min(self._tokens, rate * _BURST)

    def take(self, size: int, is_over: IsOver = lambda: False) -> None:
        """``size`` bytes were moved: wait until the rate allows the next. The bucket
        may go below zero, so any size can be taken, and the mean keeps to the rate.
        Returns early once ``is_over``."""
        with self._lock:
            self._fill()
            self._tokens -= size
        while True:
            with self._lock:
                self._fill()
                if self._rate <= 0 or self._tokens >= 0 or is_over():
                    return
                wait = -self._tokens / self._rate
            self._sleep(min(max(wait, _SHORTEST), _LONGEST))

    def _fill(self) -> None:
        now = self._clock()
        if self._rate > 0:
            more = (now - self._filled) * self._rate
            self._tokens = min(self._tokens + more, self._rate * _BURST)
        else:
            self._tokens = 0.0
        self._filled = now


class SharedRate:
    """The worker's end of the buckets of rates.py, which the service keeps.

    It tells the service of each piece of bytes and waits until that says "go on": one
    piece at a time, so each worker has an equal part where all want more.
    """

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        self._say, self._piece, self._unreported = say, 0, 0
        self._told = self._granted = 0  # numbers of pieces
        self._one = threading.Lock()
        self._granting = threading.Condition()

    def begin(self, piece: int) -> None:
        """An assignment begins, whose bytes are told in pieces; 0: not at all."""
        self._piece, self._unreported = piece, 0

    def grant(self, number: int) -> None:
        """Piece ``number`` is paid for. Called from another thread."""
        with self._granting:
            self._granted = max(self._granted, number)
            self._granting.notify_all()

    def take(self, tasks: Sequence[int], size: int, is_over: IsOver) -> None:
        """``size`` bytes of ``tasks`` were moved: wait until more may be. Returns early
        once ``is_over``."""
        if not self._piece:
            return
        with self._one:
            self._unreported += size
            while self._unreported >= self._piece and not is_over():
                self._unreported -= self._piece
                self._tell(tasks, self._piece)
                self._await(is_over)

    def end(self, tasks: Sequence[int]) -> None:
        """The assignment ends. The rest is waited for, too: else many small files would
        go faster than the rate."""
        if self._piece and self._unreported:
            until = time.monotonic() + _REST
            self._tell(tasks, self._unreported)
            self._unreported = 0
            self._await(lambda: time.monotonic() > until)

    def _tell(self, tasks: Sequence[int], size: int) -> None:
        self._told += 1
        self._say({"took": [self._told, size, list(tasks)]})

    def _await(self, is_over: IsOver) -> None:
        with self._granting:
            while self._granted < self._told and not is_over():
                self._granting.wait(_LONGEST)


class Stopwatch:
    """Seconds in which at least one thread is held back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._held, self._since, self.seconds = 0, 0.0, 0.0

    @property
    def is_running(self) -> bool:
        """Whether a thread is held back now."""
        return self._held > 0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """The thread of the caller is held back meanwhile."""
        with self._lock:
            self._held += 1
            if self._held == 1:
                self._since = self._clock()
        try:
            yield
        finally:
            with self._lock:
                self._held -= 1
                if not self._held:
                    self.seconds += self._clock() - self._since
