"""Waiting tasks to workers, and what workers say back to the service."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, Iterable, List, Tuple

from pegasus_bb.service.config import Config, as_roots
from pegasus_bb.service.crew import Crew, WorkerProcess
from pegasus_bb.service.estimate import Estimates, Pair
from pegasus_bb.service.rates import pair_of, share_rates
from pegasus_bb.service.task import CANCELLED, DONE, FAILED, PENDING, RUNNING, Task
from pegasus_bb.service.waiting import Waiting
from pegasus_bb.staging.parts import is_tag

_TOGETHER = 64  # tasks of one assignment
_BYTES = 32 << 20  # of one assignment of several tasks
_TRIES = 3  # of a task whose worker dies

End = Callable[[Task, str, int, str], None]  # task, state, bytes, message
Began = Callable[[List[int], str], None]  # tasks, tag of their temporary files


class Dispatch:
    """``ended`` and ``began`` hear of tasks."""

    def __init__(self, config: Config, began: Began, ended: End) -> None:
        self._config, self._began, self._ended = config, began, ended
        self.waiting, self.estimates = Waiting(), Estimates()
        self.is_paused = False
        self.tags: Dict[int, List[str]] = {}  # of tries that did not end, by task
        self.descriptors: Dict[int, int] = {}  # of tasks that read one
        self._crew = Crew(config.workers, self._heard)
        self._tries: Dict[int, int] = {}
        self._since: Dict[int, float] = {}  # when a running task was handed out

    def hand_out(self) -> None:
        """Give waiting tasks to workers that have none."""
        while self._crew.has_place and not self.is_paused:
            tasks = self._assignment()
            if not tasks:
                break
            worker = self._crew.worker_of(tasks[0].uid)
            worker.tasks = {task.id: task for task in tasks}
            self._since.update({task.id: time.time() for task in tasks})
            share_rates(self._crew.busy, self._config.spaces)
            for task in tasks:
                if task.id in self.descriptors:
                    worker.send_descriptor(task.id, self.descriptors[task.id])
            worker.send({"do": [self._described(task) for task in tasks]})

    def pause(self, paused: bool) -> None:
        """Running tasks stop where they are, and none begins; or all goes on."""
        self.is_paused = paused
        for worker in self._crew.workers:
            worker.send({"pause": paused})
        self.hand_out()

    def cancel(self, task: Task) -> None:
        """``task`` ends as cancelled, a running one between two of its pieces."""
        worker = self._crew.with_task(task)
        if worker is None:
            self._forget(task)
            self._ended(task, CANCELLED, 0, "cancelled by its user")
        else:
            worker.send({"cancel": task.id})

    def close(self) -> None:
        """End the workers; what they were doing goes on with the next service."""
        for worker in self._crew.workers:
            worker.end()

    def seconds_left(self, tasks: Iterable[Task]) -> Dict[int, float]:
        """How long until each of ``tasks``, all that there are, has ended, as far as
        is known. One that has ended is not in it."""
        left = [task for task in tasks if not task.has_ended]
        left.sort(key=_order)
        loads = ((task.id, *_load(task)) for task in left)
        return self.estimates.all_until_done(loads, self._config.workers)

    def _assignment(self) -> List[Task]:
        """The next task, and small ones of the same user that follow it."""
        taken: List[Task] = []
        size = 0
        while len(taken) < _TOGETHER:
            task = self.waiting.take(time.time())
            if task is None:
                break
            is_small = size + task.size <= _BYTES and not task.rate
            is_small = is_small and task.id not in self.descriptors
            if taken and (task.uid != taken[0].uid or not is_small):
                self.waiting.put_back(task)
                break
            task.state = RUNNING
            taken.append(task)
            size += task.size
            if not is_small:
                break
        return taken

    def _described(self, task: Task) -> Dict[str, Any]:
        """``task`` as a worker reads it."""
        folder = self._config.folder_of(task.uid)
        if not os.path.isdir(folder):
            os.makedirs(folder, mode=0o700)
            os.chown(folder, task.uid, -1)
        return {
            "id": task.id,
            "kind": task.kind,
            "source": task.source,
            "dest": task.dest,
            "digest": task.digest,
            "tags": self.tags.get(task.id, []),
            "spaces": as_roots(self._config.spaces),
            "state": folder,
        }

    def _heard(self, worker: WorkerProcess, message: Dict[str, Any]) -> None:
        """Raises KeyError, TypeError, ValueError for what no worker of ours says."""
        if "ended" in message:
            number, state, size, why = message["ended"]
            self._end(worker.tasks[number], state, size, why)
        elif "outcome" in message:
            number, outcome = message["outcome"]
            worker.tasks[number].outcome = dict(outcome)
        elif "moved" in message:
            for number, size in message["moved"].items():
                worker.tasks[int(number)].moved += size
        elif "began" in message:
            numbers = [worker.tasks[number].id for number in message["began"]]
            if not is_tag(message["tag"]):
                raise ValueError(message["tag"])
            for number in numbers:
                self.tags.setdefault(number, []).append(message["tag"])
            self._began(numbers, message["tag"])
        elif "idle" in message:
            left, worker.tasks = list(worker.tasks.values()), {}
            self._again(left, "without a reason")
            share_rates(self._crew.busy, self._config.spaces)
            self.hand_out()
        elif "gone" in message:
            self._gone(worker, message["gone"])

    def _end(self, task: Task, state: str, size: int, why: str) -> None:
        began = self._since.pop(task.id, 0.0)
        if state == DONE:
            self.estimates.of(pair_of(task)).learn(1, size, time.time() - began)
        self._forget(task)
        self._tries.pop(task.id, None)
        self.waiting.served(task.uid, size)
        self._ended(task, state, size, why)

    def _forget(self, task: Task) -> None:
        self.tags.pop(task.id, None)
        if task.id in self.descriptors:
            os.close(self.descriptors.pop(task.id))

    def _gone(self, worker: WorkerProcess, status: str) -> None:
        """The tasks of a worker that died wait again, a few times."""
        self._crew.workers.discard(worker)
        self._again(list(worker.tasks.values()), status)
        self.hand_out()

    def _again(self, tasks: List[Task], status: str) -> None:
        for task in tasks:
            if task.has_ended:
                continue
            self._tries[task.id] = self._tries.get(task.id, 0) + 1
            if self._tries[task.id] >= _TRIES:
                why = f"its worker ended {_TRIES} times ({status})"
                self._end(task, FAILED, 0, why)
            else:
                task.state, task.moved = PENDING, 0
                self.waiting.add(task)


def _load(task: Task) -> Tuple[Pair, int]:
    """Its pair of dataspaces, and the bytes that it still has to move; 0: not known."""
    return pair_of(task), max(task.size - task.moved, 1) if task.size else 0


def _order(task: Task) -> Tuple[bool, float, int, int]:
    """Of the beginning: what runs has begun."""
    deadline = float("inf") if task.deadline is None else task.deadline
    return task.state != RUNNING, deadline, -task.priority, task.id
