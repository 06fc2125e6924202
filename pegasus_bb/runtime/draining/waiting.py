"""Complete dumps that wait to be copied: which is next, and when it is its turn."""

from __future__ import annotations

import threading
import time
from typing import Callable

from pegasus_bb.runtime.draining.dumps import Dump

# seconds until what failed is tried again; they double
AGAIN = 30.0
AT_MOST = 600.0


class Waiting:
    """The oldest goes first. While the process ends, the newest does, and each is tried
    once. Two threads use it: one gives, one takes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turn = threading.Condition()
        self._dumps: list[Dump] = []
        self._failed: list[Dump] = []
        self._again = self._due = AGAIN
        self._ending = False

    def give(self, dump: Dump) -> None:
        """What failed before is tried again with it."""
        with self._turn:
            self._dumps.append(dump)
            self._take_failed()

    def end(self) -> None:
        """No more will come."""
        with self._turn:
            self._ending = True
            self._take_failed()

    def next(self) -> Dump | None:
        """Waits for one; None where there will be none."""
        with self._turn:
            while True:
                if self._failed and not self._ending and self._clock() >= self._due:
                    self._take_failed()
                if self._dumps:
                    return self._dumps.pop(-1 if self._ending else 0)
                if self._ending:
                    return None
                left = self._due - self._clock()
                self._turn.wait(max(0.0, left) if self._failed else None)

    def fail(self, dump: Dump) -> float:
        """Not all of it arrived: seconds until it is tried again; 0: it is not."""
        with self._turn:
            self._failed.append(dump)
            if self._ending:
                return 0.0
            wait = self._again
            self._again = min(2 * self._again, AT_MOST)
            self._due = self._clock() + wait
            return wait

    def succeed(self) -> None:
        """The destination takes dumps: the next failure is tried again soon."""
        self._again = AGAIN

    def has_newer(self) -> bool:
        """Whether a dump waits that is not only a log."""
        with self._turn:
            return any(dump.is_full for dump in self._dumps)

    @property
    def count(self) -> int:
        return len(self._dumps)

    @property
    def failed(self) -> list[Dump]:
        return list(self._failed)

    def _take_failed(self) -> None:
        self._dumps = sorted([*self._failed, *self._dumps])
        self._failed = []
        self._turn.notify_all()
