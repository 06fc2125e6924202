"""What a worker gets next: one task, or small ones of one user together."""

from __future__ import annotations

from collections.abc import Sequence

from pegasus_bb.runtime.stager_client.task import StagerTask
from pegasus_bb.stager.task_queue import TaskQueue, UserFilter, no_one

_TOGETHER = 64  # tasks of one assignment
_BYTES = 32 << 20  # of one assignment of several tasks
_TASK = 4096  # bytes of its user's share that a task costs, whatever it moves

# Of each worker with an assignment: its user, whether tasks of it have a rate.
Busy = Sequence[tuple[int, bool]]


def free_slots(owners: Sequence[int], most: int) -> UserFilter:
    """Who gets one more of ``most`` slots, which the users ``owners`` have now. Where
    one user has all of them, there is one more for the others: neither large files nor
    workers that he stops let them wait without end."""
    if len(owners) == most and len(set(owners)) == 1:
        return lambda uid: uid not in owners
    return lambda _: len(owners) < most


def _are_together(one: StagerTask, other: StagerTask) -> bool:
    return (one.uid, one.share) == (other.uid, other.share)


class Assignments:
    """Takes tasks out of ``queue`` in its order. A task with a rate of its own holds
    a worker for long, so at most half of ``workers`` do such tasks at a time. Where one
    user has that half, another may have one more, and there is one more worker."""

    def __init__(self, queue: TaskQueue, workers: int) -> None:
        self._queue, self._workers = queue, workers
        self._most_slow = max(1, workers // 2)

    def copy(self) -> Assignments:
        """The same queue, to take tasks from without effect on this one."""
        return Assignments(self._queue.copy(), self._workers)

    def next(self, busy: Busy, now: float) -> list[StagerTask]:
        """Return the tasks of the next assignment, which wait no more; none if none may
        run. ``now``: a time.time()."""
        slow = [uid for uid, is_slow in busy if is_slow]
        may_be_slow = free_slots(slow, self._most_slow)
        workers = self._workers + (len(slow) > self._most_slow)
        may_run = free_slots([uid for uid, _ in busy], workers)
        taken: list[StagerTask] = []
        size = 0
        while len(taken) < _TOGETHER:
            if taken and not taken[0].terms.share:
                may_be_slow = no_one
            task = self._queue.take(now, may_run, may_be_slow)
            if task is None:
                break
            if task in taken:  # its deadline has moved meanwhile
                continue
            is_small = size + task.size <= _BYTES
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
