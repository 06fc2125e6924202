"""A token bucket: how fast a worker may move bytes."""

from __future__ import annotations

import threading
import time
from typing import Callable

_BURST = 0.05  # seconds of the rate that may go at once
_LONGEST = 0.25  # seconds of one sleep: a new rate is heeded soon
_SHORTEST = 0.001  # seconds: less might not move the clock


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

    def take(self, size: int, is_over: Callable[[], bool] = lambda: False) -> None:
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
