"""Which task is next: the earliest deadline first, then a share for each user."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Callable

from pegasus_bb.runtime.stager_client.task import PENDING, StagerTask

_Urgent = tuple[
    float, int, int, StagerTask
]  # deadline, -priority, number: what sorts them
UserFilter = Callable[[int], bool]  # whether a task of this user may be taken


def anyone(_: int) -> bool:
    """The ``UserFilter`` of a service that has places for all."""
    return True


def no_one(_: int) -> bool:
    """The ``UserFilter`` where no place is free."""
    return False


class _UserQueue:
    """Tasks of one user that wait. One that does not any more is dropped late."""

    __slots__ = ("by_priority", "urgent")

    def __init__(self) -> None:
        self.urgent: list[_Urgent] = []
        self.by_priority: defaultdict[int, deque[StagerTask]] = defaultdict(deque)

    def copy(self) -> _UserQueue:
        same = _UserQueue()
        same.urgent = self.urgent.copy()
        for priority, tasks in self.by_priority.items():
            same.by_priority[priority] = tasks.copy()
        return same

    @property
    def size(self) -> int:
        return len(self.urgent) + sum(map(len, self.by_priority.values()))

    def drop_ended(self) -> None:
        self.urgent = [each for each in self.urgent if each[3].state == PENDING]
        heapq.heapify(self.urgent)
        for priority, tasks in self.by_priority.items():
            waiting = deque(task for task in tasks if task.state == PENDING)
            self.by_priority[priority] = waiting

    def add(self, task: StagerTask) -> None:
        self.by_priority[task.terms.priority].append(task)

    def first_urgent(self, now: float) -> _Urgent | None:
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

    def first(self) -> StagerTask | None:
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
    """Tasks that wait. A cancelled one is dropped when its turn comes, or when half of
    all are such.

    Deadlines: earliest first (Liu and Layland 1973: optimal for one server that is not
    overloaded); of equal ones the higher priority. A deadline that has passed wins
    nothing any more: the task would make others late as well. Without a deadline the
    user who was served the fewest bytes is next. A user who comes anew starts where the
    turn is, as in start-time fair queueing (Goyal et al. 1996): having been away wins
    nothing, and what was served while no task of his waited counts. Tasks with a rate
    wait apart from the others: they may have no place when those have one.
    """

    def __init__(self) -> None:
        # Of users of whom tasks wait: those without a rate, and those with one.
        self._queues: dict[tuple[int, bool], _UserQueue] = {}
        self._served: dict[int, float] = {}  # bytes, by user
        self._turn = 0.0  # bytes of the user whose turn was last
        self._cancelled = 0  # tasks that may be here still

    def copy(self) -> TaskQueue:
        """The same queue, to take tasks from without effect on this one."""
        same = TaskQueue()
        same._queues = {key: queue.copy() for key, queue in self._queues.items()}
        same._served, same._turn = self._served.copy(), self._turn
        return same

    def add(self, task: StagerTask) -> None:
        """Let ``task`` wait from now on; once more where its deadline has moved."""
        terms = task.terms
        queue = self._queue(task)
        if terms.deadline is None:
            queue.by_priority[terms.priority].append(task)
        else:
            urgent = (terms.deadline, -terms.priority, task.id, task)
            heapq.heappush(queue.urgent, urgent)

    def add_all(self, tasks: Sequence[StagerTask]) -> None:
        """The tasks of one request, most of which want the same: one look is fast."""
        terms = tasks[0].terms
        if terms.deadline is None and all(task.terms is terms for task in tasks):
            self._queue(tasks[0]).by_priority[terms.priority].extend(tasks)
            return
        for task in tasks:
            self.add(task)

    def take(
        self, now: float, may_run: UserFilter = anyone, may_be_slow: UserFilter = anyone
    ) -> StagerTask | None:
        """The next task, which does not wait any more; None if none may be taken.
        ``now``: a time.time(). ``may_be_slow``: whose tasks may have a rate."""
        keys = [
            (uid, is_rated)
            for uid, is_rated in self._queues
            if may_run(uid) and (not is_rated or may_be_slow(uid))
        ]
        found = [(self._queues[key].first_urgent(now), key) for key in keys]
        urgent = [(first, key) for first, key in found if first]
        if not urgent:
            return self._next_by_share(keys)
        _, key = min(urgent)
        return heapq.heappop(self._queues[key].urgent)[3]

    def _next_by_share(self, keys: Sequence[tuple[int, bool]]) -> StagerTask | None:
        """The next task without a deadline of the queues ``keys``."""
        found = []
        for key in keys:
            task = self._queues[key].first()
            if task is None:
                del self._queues[key]
            else:
                rank = (self._served[task.uid], -task.terms.priority, task.id)
                found.append((rank, task))
        if not found:
            return None
        _, task = min(found)
        self._queue(task).by_priority[task.terms.priority].popleft()
        # Who had no place until now was away, too: that wins one turn and no more.
        self._turn = max(self._turn, self._served[task.uid])
        self._served[task.uid] = self._turn
        return task

    def put_back(self, task: StagerTask) -> None:
        """Make ``task``, which was just taken, the next again."""
        if task.terms.deadline is not None:
            self.add(task)
            return
        self._queue(task).by_priority[task.terms.priority].appendleft(task)

    def serve(self, uid: int, size: int) -> None:
        """Count ``size`` bytes of the share of ``uid``."""
        self._served[uid] = self._served.get(uid, 0.0) + size

    def count_cancelled(self) -> None:
        """Count a task that waited, and does not any more."""
        self._cancelled += 1

    def tidy(self) -> None:
        """Drop cancelled tasks, once they are half of all: so each costs little."""
        queues = self._queues.values()
        if 2 * self._cancelled > sum(queue.size for queue in queues):
            for queue in queues:
                queue.drop_ended()
            self._cancelled = 0

    def _queue(self, task: StagerTask) -> _UserQueue:
        key = task.uid, bool(task.terms.rate)
        if key not in self._queues:
            self._queues[key] = _UserQueue()
            self._served[task.uid] = max(self._served.get(task.uid, 0.0), self._turn)
        return self._queues[key]
