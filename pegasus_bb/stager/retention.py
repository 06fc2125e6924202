"""The tasks that a service holds in memory, and how long those that have ended."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Sequence

from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.runtime.stager_client.task import Origin, Task

KEEP = 3600.0  # seconds for which an ended task can still be asked for
_KEPT = 10_000  # of these at the most, once they are older than
_NEW = 60.0  # seconds: its client may be just about to ask
_MOST = 1_000_000  # tasks of one user


class Retention:
    """Drops ended tasks from ``tasks`` that are older than ``KEEP``, or too many. While
    one task of a request has not ended, its client may ask for all of them, so they
    count as one: a look at what is old costs as much as is dropped."""

    def __init__(self, tasks: dict[int, Task]) -> None:
        """``tasks``: what an earlier service has left."""
        self._tasks = tasks
        self._by_user: Counter[int] = Counter()  # tasks that are held
        self._unended: Counter[int] = Counter()  # tasks, by request
        self._numbers: dict[int, Sequence[int]] = {}  # of the tasks of such a request
        # When the last task of a request ended, and those that are held still.
        self._ended: deque[tuple[float, Sequence[int]]] = deque()
        self._kept = 0  # how many these are
        self._recall()
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

    def accept(self, origin: Origin, count: int) -> None:
        """A new request has ``count`` tasks."""
        self._by_user[origin.uid] += count
        self._unended[origin.first] = count
        self._numbers[origin.first] = range(origin.first, origin.first + count)

    def give_up(self, origin: Origin) -> None:
        """No task of this request is there after all."""
        del self._unended[origin.first]
        self._count_off(origin.uid, len(self._numbers.pop(origin.first)))

    def end(self, task: Task) -> None:
        """``task`` has ended."""
        request = task.origin.first
        self._unended[request] -= 1
        if not self._unended[request]:
            del self._unended[request]
            self._close(request, 0.0)

    def forget_old(self) -> None:
        """Drop what is too old, or too much."""
        now = time.monotonic()
        while self._ended:
            since, numbers = self._ended[0]
            age = now - since
            if age <= _NEW or (age <= KEEP and self._kept <= _KEPT):
                break
            drop = len(numbers) if age > KEEP else self._kept - _KEPT
            self._drop(numbers[:drop])
            self._ended.popleft()
            if numbers[drop:]:
                self._ended.appendleft((since, numbers[drop:]))

    def _drop(self, numbers: Sequence[int]) -> None:
        """Tasks of one user."""
        self._count_off(self._tasks[numbers[0]].uid, len(numbers))
        self._kept -= len(numbers)
        for number in numbers:
            del self._tasks[number]

    def _recall(self) -> None:
        numbers: defaultdict[int, list[int]] = defaultdict(list)
        ended_at: defaultdict[int, float] = defaultdict(float)  # the last, by request
        for task in self._tasks.values():
            request = task.origin.first
            numbers[request].append(task.id)
            ended_at[request] = max(ended_at[request], task.ended_at)
            self._by_user[task.uid] += 1
            if not task.has_ended:
                self._unended[request] += 1
        self._numbers.update(numbers)
        now = time.time()
        for request in sorted(numbers, key=ended_at.__getitem__):
            if request not in self._unended:
                self._close(request, max(0.0, now - ended_at[request]))

    def _close(self, request: int, age: float) -> None:
        """Its last task ended ``age`` seconds ago."""
        numbers = self._numbers.pop(request)
        self._ended.append((time.monotonic() - age, numbers))
        self._kept += len(numbers)

    def _count_off(self, uid: int, tasks: int) -> None:
        self._by_user[uid] -= tasks
        if not self._by_user[uid]:
            del self._by_user[uid]
