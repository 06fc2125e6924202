"""Which task is next: the earliest deadline first, then a share for each user."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from typing import Callable, DefaultDict, Deque, Dict, List, Optional, Tuple

from pegasus_bb.service.task import PENDING, Task

_Urgent = Tuple[float, int, int, Task]  # deadline, -priority, number: what sorts them
UserFilter = Callable[[int], bool]  # whether a task of this user may be taken


def anyone(_: int) -> bool:
    """The ``UserFilter`` of a service that has places for all."""
    return True


class _UserQueue:
    """The tasks of one user that wait. One that does not any more is dropped late."""

    __slots__ = ("by_priority", "urgent")

    def __init__(self) -> None:
        self.urgent: List[_Urgent] = []
        self.by_priority: DefaultDict[int, Deque[Task]] = defaultdict(deque)

    def copy(self) -> _UserQueue:
        same = _UserQueue()
        same.urgent = self.urgent.copy()
        for priority, tasks in self.by_priority.items():
            same.by_priority[priority] = tasks.copy()
        return same

    def add(self, task: Task) -> None:
        self.by_priority[task.terms.priority].append(task)

    def first_urgent(self, now: float) -> Optional[_Urgent]:
        """The earliest deadline. A task whose deadline has passed is as one without."""
        while self.urgent:
            deadline, _, _, task = self.urgent[0]
            is_current = task.state == PENDING and deadline == task.terms.deadline
            if is_current and deadline >= now:
                return self.urgent[0]
            heapq.heappop(self.urgent)
            if is_current:  # else it has moved: it is in here once more
                self.add(task)
        return None

    def first(self) -> Optional[Task]:
        """The oldest of the highest priority."""
        while self.by_priority:
            highest = max(self.by_priority)
            tasks = self.by_priority[highest]
            while tasks and tasks[0].state != PENDING:
                tasks.popleft()
            if tasks:
                return tasks[0]
            del self.by_priority[highest]
        return None


class TaskQueue:
    """Tasks that wait. A cancelled one is dropped when its turn comes.

    Deadlines: earliest first (Liu and Layland 1973: optimal for one server that is not
    overloaded); of equal ones the higher priority. A deadline that has passed wins
    nothing any more: the task would make others late as well. Without a deadline the
    user who was served the fewest bytes is next. A user who comes anew starts where the
    turn is, as in start-time fair queueing (Goyal et al. 1996): having been away wins
    nothing, and what was served while no task of his waited counts.
    """

    def __init__(self) -> None:
        self._queues: Dict[int, _UserQueue] = {}  # of users of whom tasks wait
        self._served: Dict[int, float] = {}  # bytes, by user
        self._turn = 0.0  # bytes of the user whose turn was last

    def copy(self) -> TaskQueue:
        """The same queue, to take tasks from without effect on this one."""
        same = TaskQueue()
        same._queues = {uid: queue.copy() for uid, queue in self._queues.items()}
        same._served, same._turn = self._served.copy(), self._turn
        return same

    def add(self, task: Task) -> None:
        """``task`` waits from now on; once more where its deadline has moved."""
        uid = task.origin.uid
        queue = self._queues.get(uid) or self._queue(uid)
        if task.terms.deadline is None:
            queue.add(task)
        else:
            key = (task.terms.deadline, -task.terms.priority, task.id, task)
            heapq.heappush(queue.urgent, key)

    def take(self, now: float, may_run: UserFilter = anyone) -> Optional[Task]:
        """The next task, which does not wait any more; None if none may be taken.
        ``now``: a time.time()."""
        queues = [queue for uid, queue in self._queues.items() if may_run(uid)]
        urgent = [first for first in (q.first_urgent(now) for q in queues) if first]
        if urgent:
            task = min(urgent)[3]
            heapq.heappop(self._queues[task.uid].urgent)
            return task
        for uid in sorted(filter(may_run, self._queues), key=self._served.__getitem__):
            first = self._queues[uid].first()
            if first is not None:
                self._queues[uid].by_priority[first.terms.priority].popleft()
                self._turn = max(self._turn, self._served[uid])
                return first
            del self._queues[uid]
        return None

    def put_back(self, task: Task) -> None:
        """``task``, which was just taken, is the next again."""
        if task.terms.deadline is not None:
            self.add(task)
            return
        queue = self._queue(task.uid)
        queue.by_priority[task.terms.priority].appendleft(task)

    def serve(self, uid: int, size: int) -> None:
        """``size`` bytes of a share of ``uid`` are used."""
        self._served[uid] = self._served.get(uid, 0.0) + size

    def _queue(self, uid: int) -> _UserQueue:
        if uid not in self._queues:
            self._queues[uid] = _UserQueue()
            self._served[uid] = max(self._served.get(uid, 0.0), self._turn)
        return self._queues[uid]
