"""Which task is next: the earliest deadline first, then a share for each user."""

from __future__ import annotations

import heapq
from collections import deque
from typing import Deque, Dict, List, Optional, Tuple

from pegasus_bb.service.task import PENDING, Task


class _Share:
    """The tasks of one user that have no deadline."""

    __slots__ = ("by_priority", "served")

    def __init__(self, served: float) -> None:
        self.served = served  # bytes that the service has moved for the user
        self.by_priority: Dict[int, Deque[Task]] = {}

    def copy(self) -> _Share:
        same = _Share(self.served)
        same.by_priority = {p: tasks.copy() for p, tasks in self.by_priority.items()}
        return same

    def add(self, task: Task) -> None:
        self.by_priority.setdefault(task.priority, deque()).append(task)

    def first(self) -> Optional[Task]:
        """The oldest of the highest priority that still waits; the rest is dropped."""
        while self.by_priority:
            highest = max(self.by_priority)
            tasks = self.by_priority[highest]
            while tasks and tasks[0].state != PENDING:
                tasks.popleft()
            if tasks:
                return tasks[0]
            del self.by_priority[highest]
        return None


class Waiting:
    """Tasks that wait. A cancelled one is dropped when its turn comes.

    Deadlines: earliest first (Liu and Layland 1973: optimal for one server that is not
    overloaded); of equal ones the higher priority. A deadline that has passed wins
    nothing any more: the task would make others late as well. Without a deadline the
    user whose tasks have moved the fewest bytes is next. A user who comes anew starts
    at the least of all who wait, so having been away wins nothing.
    """

    def __init__(self) -> None:
        self._urgent: List[Tuple[float, int, int, Task]] = []
        self._shares: Dict[int, _Share] = {}

    def copy(self) -> Waiting:
        """The same queue, to take tasks from without effect on this one."""
        same = Waiting()
        same._urgent = self._urgent.copy()
        same._shares = {uid: share.copy() for uid, share in self._shares.items()}
        return same

    def add(self, task: Task) -> None:
        """``task`` waits from now on; once more where its deadline has moved."""
        if task.deadline is not None:
            key = (task.deadline, -task.priority, task.id, task)
            heapq.heappush(self._urgent, key)
            return
        self._add_to_share(task)

    def _add_to_share(self, task: Task) -> None:
        share = self._shares.get(task.uid)
        if share is None:
            served = min((one.served for one in self._shares.values()), default=0.0)
            share = self._shares[task.uid] = _Share(served)
        share.add(task)

    def take(self, now: float) -> Optional[Task]:
        """The next task, which does not wait any more; None if none waits. ``now``: a
        time.time()."""
        while self._urgent:
            deadline, _, _, task = heapq.heappop(self._urgent)
            if task.state != PENDING or deadline != task.deadline:
                continue  # its deadline has moved: it is in here once more
            if deadline >= now:
                return task
            self._add_to_share(task)
        for uid in sorted(self._shares, key=lambda uid: self._shares[uid].served):
            first = self._shares[uid].first()
            if first is not None:
                self._shares[uid].by_priority[first.priority].popleft()
                return first
            del self._shares[uid]
        return None

    def put_back(self, task: Task) -> None:
        """``task``, which was just taken, is the next again."""
        if task.deadline is not None:
            self.add(task)
            return
        share = self._shares.setdefault(task.uid, _Share(0.0))
        share.by_priority.setdefault(task.priority, deque()).appendleft(task)

    def served(self, uid: int, size: int) -> None:
        """``size`` bytes were moved for ``uid``; a file counts as 4 KiB at least."""
        share = self._shares.get(uid)
        if share is not None:
            share.served += max(size, 4096)
