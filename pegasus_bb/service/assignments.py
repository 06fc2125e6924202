"""What a worker gets next: one task, or small ones of one user together."""

from __future__ import annotations

from collections import deque
from typing import Callable, Deque, List, Optional, Sequence

from pegasus_bb.service.task import PENDING, Task
from pegasus_bb.service.task_queue import TaskQueue, UserFilter, anyone

_TOGETHER = 64  # tasks of one assignment
_BYTES = 32 << 20  # of one assignment of several tasks
_TASK = 4096  # bytes of its user's share that a task costs, whatever it moves


def free_slots(owners: Sequence[int], most: int) -> UserFilter:
    """Who gets one more of ``most`` slots, which the users ``owners`` have now. Where
    one user has all of them, there is one more for the others: neither large files nor
    workers that he stops let them wait without end."""
    if len(owners) == most and len(set(owners)) == 1:
        return lambda uid: uid not in owners
    return lambda _: len(owners) < most


def _are_together(one: Task, other: Task) -> bool:
    return (one.uid, one.terms.share) == (other.uid, other.terms.share)


class Assignments:
    """Takes tasks out of ``queue`` in its order. A task with a rate of its own holds
    a worker for long, so at most half of the workers do such tasks at a time."""

    def __init__(self, queue: TaskQueue, workers: int) -> None:
        self._queue, self.most_slow = queue, max(1, workers // 2)
        self._slow: Deque[Task] = deque()  # whose turn has come, and no place is free

    def copy(self) -> Assignments:
        """The same queue, to take tasks from without effect on this one."""
        same = Assignments(self._queue.copy(), 0)
        same.most_slow, same._slow = self.most_slow, self._slow.copy()
        return same

    def next(
        self,
        slow: int,
        is_alone: Callable[[Task], bool],
        now: float,
        may_run: UserFilter = anyone,
    ) -> List[Task]:
        """The tasks of the next assignment, which wait no more; none if none may run.

        ``slow``: workers that do a task with a rate. ``is_alone``: whether a task
        cannot be done together with others. ``now``: a time.time(). ``may_run``: whose
        tasks there is a place for.
        """
        taken: List[Task] = []
        size = 0
        while len(taken) < _TOGETHER:
            may_be_slow = slow < self.most_slow and (
                not taken or bool(taken[0].terms.share)
            )
            task = self._next(may_be_slow, now, may_run)
            if task is None:
                break
            if task in taken:  # its deadline has moved meanwhile
                continue
            is_small = size + task.size <= _BYTES
            is_small = is_small and not task.terms.own_rate and not is_alone(task)
            if taken and not (is_small and _are_together(task, taken[0])):
                self._queue.put_back(task)
                break
            taken.append(task)
            size += task.size
            if not is_small:
                break
        if taken:
            self._queue.serve(taken[0].uid, _TASK * len(taken))
        return taken

    def _next(
        self, may_be_slow: bool, now: float, may_run: UserFilter
    ) -> Optional[Task]:
        while self._slow and self._slow[0].state != PENDING:
            self._slow.popleft()
        for task in self._slow if may_be_slow else ():
            if task.state == PENDING and may_run(task.uid):
                self._slow.remove(task)
                return task
        while True:
            found = self._queue.take(now, may_run)
            if found is None or not found.terms.rate or may_be_slow:
                return found
            self._slow.append(found)
