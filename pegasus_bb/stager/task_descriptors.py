"""The descriptors that tasks wait to read."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pegasus_bb.runtime.stager_client.protocol import Refused

_ALL = 400  # a process has 1,024
_OF_A_USER = 100


class TaskDescriptors:
    """Copies of the descriptors that came with requests, by task."""

    def __init__(self) -> None:
        self._by_task: dict[int, tuple[int, int]] = {}  # (uid, descriptor)

    def __contains__(self, task: int) -> bool:
        return task in self._by_task

    def tasks(self) -> set[int]:
        """Those that read one."""
        return set(self._by_task)

    def of(self, task: int) -> int:
        """The descriptor of ``task``."""
        return self._by_task[task][1]

    def hold(self, uid: int, wanted: Mapping[int, int]) -> None:
        """Copy the descriptors of ``wanted``, by task, until they are closed. Raises
        Refused where ``uid``, or all users together, would hold too many."""
        own = sum(holder == uid for holder, _ in self._by_task.values())
        if own + len(wanted) > _OF_A_USER:
            why = f"{_OF_A_USER} of your tasks read memory at a time; wait for some"
            raise Refused("busy", why)
        if len(self._by_task) + len(wanted) > _ALL:
            raise Refused("busy", "too many descriptors wait; try again later")
        try:
            for task, descriptor in wanted.items():
                self._by_task[task] = uid, os.dup(descriptor)
        except OSError as error:
            for task in wanted:
                self.close(task)
            why = f"no descriptor can be copied: {error.strerror}; try again later"
            raise Refused("busy", why) from error

    def close(self, task: int) -> None:
        """``task`` needs none any more."""
        if task in self._by_task:
            os.close(self._by_task.pop(task)[1])
