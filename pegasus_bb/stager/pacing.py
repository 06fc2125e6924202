"""How fast a worker moves bytes: its part of the rates of targets and of shares."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable

_BURST = 0.05  # seconds of the rate that may go at once
_LONGEST = 0.25  # seconds of one sleep: a cancellation takes effect soon
_REST = 10.0  # seconds at most that a worker waits for bytes of tasks that have ended

IsOver = Callable[[], bool]


class Bucket:
    """Says when the next bytes may go, so that the mean keeps to ``rate``. This is the
    virtual scheduling of ITU-T I.371: who asks first goes on first."""

    def __init__(self, rate: float) -> None:
        self.rate = rate  # bytes per second, above 0 when ``take`` is called
        self._used_until = -math.inf

    def take(self, size: int, now: float) -> float:
        """Count ``size`` bytes; return until when to wait with more of them."""
        begin = max(self._used_until, now - _BURST)
        self._used_until = begin + size / self.rate
        return self._used_until


class SharedRate:
    """The worker's end of the buckets of rates.py, which the service keeps.

    It tells the service of each piece of bytes and waits until that says "go on": one
    piece at a time, so each worker has an equal part where all want more.
    """

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        self._say, self._piece, self._unreported = say, 0, 0
        self._reported = self._granted = 0  # numbers of pieces
        self._one = threading.Lock()
        self._granting = threading.Condition()

    def begin(self, piece: int) -> None:
        """Begin an assignment, whose bytes are reported in pieces; 0: not at all."""
        self._piece, self._unreported = piece, 0

    def grant(self, number: int) -> None:
        """Let piece ``number`` go. Called from another thread."""
        with self._granting:
            self._granted = max(self._granted, number)
            self._granting.notify_all()

    def take(self, tasks: Sequence[int], size: int, is_over: IsOver) -> None:
        """Count ``size`` bytes of ``tasks``; wait until more may go. Returns early
        once ``is_over``."""
        if not self._piece:
            return
        with self._one:
            self._unreported += size
            while self._unreported >= self._piece and not is_over():
                self._unreported -= self._piece
                self._report(tasks, self._piece)
                self._await(is_over)

    def end(self, tasks: Sequence[int]) -> None:
        """The assignment ends. The rest is waited for, too: else many small files would
        go faster than the rate."""
        if self._piece and self._unreported:
            until = time.monotonic() + _REST
            self._report(tasks, self._unreported)
            self._unreported = 0
            self._await(lambda: time.monotonic() > until)

    def _report(self, tasks: Sequence[int], size: int) -> None:
        self._reported += 1
        self._say({"took": [self._reported, size, list(tasks)]})

    def _await(self, is_over: IsOver) -> None:
        with self._granting:
            while self._granted < self._reported and not is_over():
                self._granting.wait(_LONGEST)


class Stopwatch:
    """Seconds in which at least one thread is held back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held, self._since, self.seconds = 0, 0.0, 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """The thread of the caller is held back meanwhile."""
        with self._lock:
            self._held += 1
            if self._held == 1:
                self._since = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._held -= 1
                if not self._held:
                    self.seconds += time.monotonic() - self._since
