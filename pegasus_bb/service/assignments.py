"""What a worker gets next: one task, or small ones of one user together."""

from __future__ import annotations

from collections import deque
from typing import Callable, Deque, List, Optional

from pegasus_bb.service.task import PENDING, Task
from pegasus_bb.service.waiting import Waiting

_TOGETHER = 64  # tasks of one assignment
_BYTES = 32 << 20  # of one assignment of several tasks


class Assignments:
    """Takes tasks out of ``waiting`` in its order. A task with a rate of its own holds
    a worker for long, so at most half of the workers do such tasks at a time."""

    def __init__(self, waiting: Waiting, workers: int) -> None:
        self._waiting, self.most_slow = waiting, max(1, workers // 2)
        self._slow: Deque[Task] = deque()  # whose turn has come, and no place is free

    def copy(self) -> Assignments:
        """The same queue, to take tasks from without effect on this one."""
        same = Assignments(self._waiting.copy(), 0)
        same.most_slow, same._slow = self.most_slow, self._slow.copy()
        return same

    def next(
        self, slow: int, is_alone: Callable[[Task], bool], now: float
    ) -> List[Task]:
        """The tasks of the next assignment, which wait no more; none if none may run.

        ``slow``: workers that do a task with a rate. ``is_alone``: whether a task
        cannot be done together with others. ``now``: a time.time().
        """
        taken: List[Task] = []
        size = 0
        while len(taken) < _TOGETHER:
            task = self._next(slow < self.most_slow and not taken, now)
            if task is None:
                break
            is_small = size + task.size <= _BYTES
            is_small = is_small and not task.rate and not is_alone(task)
            if taken and (task.uid != taken[0].uid or not is_small):
                self._waiting.put_back(task)
                break
            taken.append(task)
            size += task.size
            if not is_small:
                break
        return taken

    def _next(self, may_be_slow: bool, now: float) -> Optional[Task]:
        while may_be_slow and self._slow:
            task = self._slow.popleft()
            if task.state == PENDING:
                return task
        while True:
            found = self._waiting.take(now)
            if found is None or not found.rate or may_be_slow:
                return found
            self._slow.append(found)
