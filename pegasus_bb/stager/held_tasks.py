"""The tasks that a service holds in memory: how long those that have ended."""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import Callable

from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.runtime.stager_client.task import Origin, StagerTask

KEEP = 3600.0  # seconds for which an ended task can still be asked for
_KEPT = 10_000  # of these at the most, once they are older than
_NEW = 60.0  # seconds: its client may be just about to ask
_MOST = 1_000_000  # tasks of one user


class Retention:
    """Drops ended tasks from ``tasks`` that are older than ``KEEP``, or too many. The
    tasks of a request stay together: its client may ask for all of them."""

    def __init__(
        self, tasks: dict[int, StagerTask], forget: Callable[[Origin], None]
    ) -> None:
        """``tasks``: what an earlier service has left; ``forget`` is called for each
        request that is dropped."""
        self._tasks, self._forget = tasks, forget
        self._by_user: Counter[int] = Counter()  # tasks that are held
        self._unended: Counter[int] = Counter()  # tasks, by request
        # When the last task of a request ended; they are held still.
        self._ended: deque[tuple[float, Origin]] = deque()
        self._kept = 0  # tasks of these
        ends: dict[Origin, float] = {}  # the last one of each request
        for task in tasks.values():
            ends[task.origin] = max(ends.get(task.origin, 0.0), task.ended_at)
            self._by_user[task.uid] += 1
            self._unended[task.origin.first] += not task.has_ended
        now = time.time()
        for origin in sorted(ends, key=ends.__getitem__):
            self._close(origin, max(0.0, now - ends[origin]))
        self.forget_old()

    @property
    def is_idle(self) -> bool:
        """Whether every task has ended."""
        return not self._unended

    def check_room(self, uid: int, count: int) -> None:
        """Raises Refused where ``count`` more tasks of ``uid`` are too many."""
        if self._by_user[uid] + count > _MOST:
            held = (
                "they wait, run, or have ended just now or before others of a request"
            )
            raise Refused("busy", f"you have {_MOST:,} tasks; {held}; wait for some")

    def accept(self, origin: Origin) -> None:
        """Count the tasks of a new request."""
        self._by_user[origin.uid] += origin.total
        self._unended[origin.first] = origin.total

    def give_up(self, origin: Origin) -> None:
        """Count off a request of which no task is there after all."""
        del self._unended[origin.first]
        self._by_user[origin.uid] -= origin.total

    def end(self, task: StagerTask) -> None:
        """Count ``task``, which has ended."""
        self._unended[task.origin.first] -= 1
        self._close(task.origin, 0.0)

    def forget_old(self) -> None:
        """Drop what is too old, or too much."""
        now = time.monotonic()
        while self._ended:
            since, origin = self._ended[0]
            age = now - since
            if age <= _NEW or (age <= KEEP and self._kept <= _KEPT):
                break
            self._ended.popleft()
            self._kept -= origin.total
            self._by_user[origin.uid] -= origin.total
            for number in range(origin.first, origin.first + origin.total):
                del self._tasks[number]
            self._forget(origin)

    def _close(self, origin: Origin, age: float) -> None:
        """Its last task, if none is left, ended ``age`` seconds ago."""
        if not self._unended[origin.first]:
            del self._unended[origin.first]
            self._ended.append((time.monotonic() - age, origin))
            self._kept += origin.total
