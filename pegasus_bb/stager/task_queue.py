"""Which task is next: the earliest deadline first, then a share for each user."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any, Callable

from pegasus_bb.runtime.stager_client.task import PENDING, StagerTask

_TOGETHER = 64  # tasks of one assignment
_BYTES = 32 << 20  # of one assignment of several tasks
_TASK = 4096  # bytes of its user's share that a task costs, whatever it moves

# Deadline, -priority, number: what sorts them.
_Urgent = tuple[float, int, int, StagerTask]
# Of each worker with an assignment: its user, whether tasks of it have a rate.
Busy = Sequence[tuple[int, bool]]
UserFilter = Callable[[int], bool]  # whether a task of this user may be taken


def anyone(_: int) -> bool:
    """The ``UserFilter`` of a service that has places for all."""
    return True


def free_slots(owners: Sequence[int], most: int) -> UserFilter:
    """Who gets one more of ``most`` slots, which the users ``owners`` have now. Where
    one user has all of them, there is one more for the others: neither large files nor
    workers that he stops let them wait without end."""
    if len(owners) == most and len(set(owners)) == 1:
        return lambda uid: uid not in owners
    return lambda _: len(owners) < most


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

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers
        # By user, whether they have a rate, and, without a deadline, -priority.
        self._urgent: dict[tuple[int, bool], list[_Urgent]] = {}
        self._plain: dict[tuple[int, bool, int], deque[StagerTask]] = {}
        self._served: Counter[int] = Counter()  # bytes, by user
        self._turn = 0  # bytes of the user whose turn was last
        self._cancelled = 0  # tasks that may be here still

    def copy(self) -> TaskQueue:
        """The same queue, to take tasks from without effect on this one."""
        same = TaskQueue(self._workers)
        same._urgent = {key: heap.copy() for key, heap in self._urgent.items()}
        same._plain = {key: tasks.copy() for key, tasks in self._plain.items()}
        same._served, same._turn = self._served.copy(), self._turn
        return same

    def add(self, task: StagerTask) -> None:
        """Let ``task`` wait from now on; once more where its deadline has moved."""
        terms = task.terms
        if terms.deadline is None:
            self._plain_of(task).append(task)
            return
        key = task.uid, bool(terms.rate)
        if key not in self._urgent:
            self._greet(key)
        urgent = (terms.deadline, -terms.priority, task.id, task)
        heapq.heappush(self._urgent.setdefault(key, []), urgent)

    def add_all(self, tasks: Sequence[StagerTask]) -> None:
        """The tasks of one request, most of which want the same: one look is fast."""
        terms = tasks[0].terms
        if terms.deadline is None and all(task.terms is terms for task in tasks):
            self._plain_of(tasks[0]).extend(tasks)
            return
        for task in tasks:
            self.add(task)

    def put_back(self, task: StagerTask) -> None:
        """Make ``task``, which was just taken, the next again."""
        if task.terms.deadline is not None:
            self.add(task)
        else:
            self._plain_of(task).appendleft(task)

    def _plain_of(self, task: StagerTask) -> deque[StagerTask]:
        key = task.uid, bool(task.terms.rate), -task.terms.priority
        if key not in self._plain:
            self._greet(key[:2])
            self._plain[key] = deque()
        return self._plain[key]

    def _greet(self, new: tuple[int, bool]) -> None:
        """A user who comes anew starts where the turn is."""
        if all(key[:2] != new for key in (*self._urgent, *self._plain)):
            uid = new[0]
            self._served[uid] = max(self._served[uid], self._turn)

    def take(
        self, now: float, may_run: UserFilter = anyone, may_be_slow: UserFilter = anyone
    ) -> StagerTask | None:
        """The next task, which does not wait any more; None if none may be taken.
        ``now``: a time.time(). ``may_be_slow``: whose tasks may have a rate."""

        def may_be_next(key: tuple[Any, ...]) -> bool:
            return may_run(key[0]) and (not key[1] or may_be_slow(key[0]))

        keys = list(filter(may_be_next, self._urgent))
        firsts = [self._urgent[key][0] for key in keys if self._is_urgent(key, now)]
        if firsts:
            task = min(firsts)[3]
            heapq.heappop(self._urgent[task.uid, bool(task.terms.rate)])
            return task
        by_share = []
        for key in list(filter(may_be_next, self._plain)):
            tasks = self._plain[key]
            while tasks and tasks[0].state != PENDING:
                tasks.popleft()
            if tasks:
                by_share.append((self._served[key[0]], key[2], tasks[0].id, tasks))
            else:
                del self._plain[key]
        if not by_share:
            return None
        served, _, _, tasks = min(by_share)
        # Who had no place until now was away, too: that wins one turn and no more.
        self._turn = max(self._turn, served)
        self._served[tasks[0].uid] = self._turn
        return tasks.popleft()

    def _is_urgent(self, key: tuple[int, bool], now: float) -> bool:
        """Whether a heap has a task that waits. One whose deadline has passed is as one
        without."""
        heap = self._urgent[key]
        while heap:
            deadline, _, _, task = heap[0]
            is_current = task.state == PENDING and deadline == task.terms.deadline
            if is_current and deadline >= now:
                return True
            heapq.heappop(heap)
            if is_current:  # else it has moved: it is in here once more
                self._plain_of(task).append(task)
        del self._urgent[key]
        return False

    def assignment(self, busy: Busy, now: float) -> list[StagerTask]:
        """Take what a worker gets next: one task, or small ones of one user together;
        none if none may run. ``now``: a time.time().

        A task with a rate of its own holds a worker for long, so at most half of the
        workers do such tasks at a time. Where one user has that half, another may have
        one more, and there is one more worker."""
        slow = [uid for uid, is_slow in busy if is_slow]
        most_slow = max(1, self._workers // 2)
        may_be_slow = free_slots(slow, most_slow)
        workers = self._workers + (len(slow) > most_slow)
        may_run = free_slots([uid for uid, _ in busy], workers)
        taken: list[StagerTask] = []
        size = 0
        while len(taken) < _TOGETHER and size <= _BYTES:
            if taken and not taken[0].terms.share:
                may_be_slow = free_slots((), 0)  # for no one
            task = self.take(now, may_run, may_be_slow)
            if task is None:
                break
            if task in taken:  # its deadline has moved meanwhile
                continue
            size += task.size
            are_together = not taken or (
                (task.uid, task.share) == (taken[0].uid, taken[0].share)
            )
            if taken and not (are_together and size <= _BYTES):
                self.put_back(task)
                break
            taken.append(task)
        if taken:
            self.serve(taken[0].uid, _TASK * len(taken))
        return taken

    def serve(self, uid: int, size: int) -> None:
        """Count ``size`` bytes of the share of ``uid``."""
        self._served[uid] += size

    def count_cancelled(self) -> None:
        """Count a task that waited, and does not any more."""
        self._cancelled += 1

    def tidy(self) -> None:
        """Drop cancelled tasks, once they are half of all: so each costs little."""
        queues: list[Any] = [*self._urgent.values(), *self._plain.values()]
        if 2 * self._cancelled > sum(map(len, queues)):
            for heap in self._urgent.values():
                heap[:] = [each for each in heap if each[3].state == PENDING]
                heapq.heapify(heap)
            for key, tasks in self._plain.items():
                self._plain[key] = deque(t for t in tasks if t.state == PENDING)
            self._cancelled = 0
