"""Callbacks that run when a set of tasks has ended."""

from __future__ import annotations

from typing import Callable

from pegasus_bb.runtime.stager_client.task import StagerTask

# By task. A task that has ended is in it as long as its end is not durable.
Waiters = dict[int, list[Callable[[int], None]]]


class TasksEnded:
    """Calls ``all_ended`` once, when all of ``tasks`` have ended durably.

    It stands in the list of one task at a time, so it costs little, however many they
    are, and is forgotten at once.
    """

    def __init__(
        self, waiters: Waiters, tasks: list[StagerTask], all_ended: Callable[[], None]
    ) -> None:
        self._waiters, self._all_ended = waiters, all_ended
        self._left, self._at = iter(tasks), 0
        self.is_over = False

    def resume(self, _: int = 0) -> None:
        """Go on: the task at which it stands has ended."""
        for task in () if self.is_over else self._left:
            if not task.has_ended or task.id in self._waiters:
                self._waiters.setdefault(task.id, []).append(self.resume)
                self._at = task.id
                return
        if not self.is_over:
            self.is_over = True
            self._all_ended()

    def forget(self) -> None:
        """Do not call ``all_ended`` any more."""
        self.is_over = True
        standing = self._waiters.get(self._at, [])
        if self.resume in standing:
            standing.remove(self.resume)
