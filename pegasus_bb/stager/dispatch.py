"""Waiting tasks to workers, and what workers say back to the service."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Sequence
from typing import Callable

from pegasus_bb.runtime.stager_client.dataspace import as_roots
from pegasus_bb.runtime.stager_client.task import (
    BY_USER,
    CANCELLED,
    DONE,
    FAILED,
    PENDING,
    RUNNING,
    SWEEP,
    StagerTask,
)
from pegasus_bb.runtime.staging.parts import is_tag
from pegasus_bb.stager.conversation import Message, WorkerTask
from pegasus_bb.stager.forecast import Estimates, Forecast
from pegasus_bb.stager.messages import complain, message_of
from pegasus_bb.stager.rates import Targets, pair_of
from pegasus_bb.stager.site_config import Config
from pegasus_bb.stager.task_queue import TaskQueue
from pegasus_bb.stager.worker_pool import WorkerPool, WorkerProcess

_TRIES = 3  # of a task whose worker dies
_REST = 1.0  # seconds until the next try to start a worker

End = Callable[[StagerTask, str, int, str], None]  # task, state, bytes, message
# Tasks, the tag of their temporary files, what to do when that is written down.
Began = Callable[[list[int], str, Callable[[], None]], None]


class Dispatch:
    """Gives waiting tasks to workers. ``began`` is called before tasks make their first
    file, ``ended`` when a task has ended."""

    def __init__(self, config: Config, began: Began, ended: End) -> None:
        self._config, self._began, self._ended = config, began, ended
        self.queue, self.estimates = TaskQueue(config.workers), Estimates()
        self.targets = Targets(config.spaces)
        self.is_paused = self._is_resting = False
        self.tags: dict[int, list[str]] = {}  # of tries that did not end, by task
        self._pool = WorkerPool(config.workers, self._handle)
        # What a worker asked for, by its number -> the tasks that wait, until when.
        self._grants: dict[
            tuple[WorkerProcess, int], tuple[list[StagerTask], asyncio.TimerHandle]
        ] = {}
        self._tries: Counter[int] = Counter()
        self._given_up: dict[int, tuple[str, str]] = {}  # task -> its end: state, why
        self._stopping: set[int] = set()  # tasks that a worker shall stop
        self._complaint = ""  # why no worker can be started; empty: one could be

    def add(self, tasks: Sequence[StagerTask]) -> None:
        """Take new tasks of one request, which wait."""
        self.queue.add_all(tasks)
        for task in tasks:
            self.targets.join(task)

    def hand_out(self) -> None:
        """Give waiting tasks to workers that have none."""
        while not (self.is_paused or self._is_resting):
            busy = [(worker.uid, worker.is_slow) for worker in self._pool.busy]
            tasks = self.queue.assignment(busy, time.time())
            if not tasks:
                break
            for task in tasks:
                task.state = RUNNING
            try:
                described = [self._described(task) for task in tasks]
            except OSError as error:
                for task in tasks:
                    why = f"{message_of(error)}: no task can be done"
                    self._end(task, FAILED, 0, why)
                continue
            worker = self._pool.worker_of(tasks[0].uid)
            worker.assign(tasks)
            piece = self.targets.piece(tasks)
            worker.send({"do": described, "piece": piece})

    def pause(self, *, paused: bool) -> None:
        """Running tasks stop where they are, and none begins; or all goes on."""
        self.is_paused = paused
        for worker in self._pool.workers:
            worker.send({"pause": paused})
        self.hand_out()

    def change_rate(self, uid: int, shares: str, rate: float) -> int:
        """See Targets.change. Tasks that wait for the old rate go on at the new one, if
        that is sooner: none waits longer, however often this is asked."""
        changed = self.targets.change(uid, shares, rate)
        now = time.monotonic()  # as the clock of the loop
        for (worker, number), (tasks, timer) in list(self._grants.items()):
            if now + self.targets.take(tasks, 0, now) < timer.when():
                timer.cancel()
                self._pace(worker, number, 0, tasks)
        return changed

    def cancel(self, task: StagerTask) -> None:
        """End ``task`` as cancelled, a running one between two of its pieces."""
        doing = (each for each in self._pool.workers if task.id in each.tasks)
        worker = next(doing, None)
        if worker is None:
            self._give_up(task, CANCELLED, BY_USER)
        elif task.id not in self._given_up:
            self._stopping.add(task.id)
            worker.send({"cancel": task.id})

    def close(self) -> None:
        """End the workers; what they were doing goes on with the next service."""
        for worker in self._pool.workers:
            worker.end()

    def forecast(self) -> Forecast:
        """Return how long each task will take, as far as is known now. Another thread
        may play it."""
        running = [
            [task for task in worker.tasks.values() if not task.has_ended]
            for worker in self._pool.busy
        ]
        return Forecast(
            running,
            self.queue.copy(),
            self.estimates,
            self.targets,
            time.time(),
        )

    def _described(self, task: StagerTask) -> Message:
        """Return ``task`` as a worker reads it."""
        folder = self._config.folder_of(task.uid)
        _give_folder(folder, task.uid)
        described = WorkerTask(
            task.id,
            SWEEP if task.id in self._given_up else task.kind,
            task.source,
            task.dest,
            task.digest,
            task.terms.hint,
            self.tags.get(task.id, []),
            as_roots(self._config.spaces),
            folder,
        )
        return described._asdict()

    def _handle(self, worker: WorkerProcess, message: Message) -> None:
        """Raises KeyError, TypeError, ValueError for what no worker of ours says."""
        if "ended" in message:
            number, state, size, why = message["ended"]
            self._end(worker.tasks[number], state, size, why)
        elif "outcome" in message:
            number, outcome = message["outcome"]
            worker.tasks[number].outcome = dict(outcome)
        elif "moved" in message:
            for number, size in message["moved"].items():
                self._count(worker.tasks[int(number)], size)
        elif "took" in message:
            number, size, tasks = message["took"]
            self._pace(worker, number, size, [worker.tasks[task] for task in tasks])
        elif "began" in message:
            numbers = [worker.tasks[number].id for number in message["began"]]
            if not is_tag(message["tag"]):
                raise ValueError(message["tag"])
            for number in numbers:
                self.tags.setdefault(number, []).append(message["tag"])
            go = {"go": message["tag"]}
            self._began(numbers, message["tag"], lambda: worker.send(go))
        elif "idle" in message:
            self._complaint = ""
            self._learn(worker, float(message["idle"]))
            left, worker.tasks = list(worker.tasks.values()), {}
            self._again(left, "without a reason")
            self.hand_out()
        elif "gone" in message:
            self._gone(worker, message["gone"])
        elif "absent" in message:
            self._absent(worker, message["absent"])

    def _pace(
        self, worker: WorkerProcess, number: int, size: int, tasks: list[StagerTask]
    ) -> None:
        """Let ``tasks`` go on when the rates of their targets allow the next bytes."""
        wait = self.targets.take(tasks, size, time.monotonic())
        loop = asyncio.get_running_loop()
        key = (worker, number)
        self._grants[key] = tasks, loop.call_later(wait, self._grant, *key)

    def _grant(self, worker: WorkerProcess, number: int) -> None:
        del self._grants[worker, number]
        worker.send({"granted": number})

    def _count(self, task: StagerTask, size: int) -> None:
        task.moved += size
        self.queue.serve(task.uid, size)
        self.targets.count(task, size, time.monotonic())

    def _learn(self, worker: WorkerProcess, held: float) -> None:
        """Learn from an assignment of ``worker``, which a pause or a rate held back for
        ``held`` seconds. Small files are copied together, so a pair's part of the time
        is its part of the tasks. A task with a rate of its own says nothing of the
        others."""
        seconds = max(0.0, time.monotonic() - worker.since - held)
        done = [
            t for t in worker.tasks.values() if t.state == DONE and not t.terms.rate
        ]
        for pair in {pair_of(task) for task in done}:
            sizes = [task.moved for task in done if pair_of(task) == pair]
            took = seconds * len(sizes) / len(worker.tasks)
            self.estimates.learn(pair, len(sizes), sum(sizes), took)

    def _end(self, task: StagerTask, state: str, size: int, why: str) -> None:
        state, why = self._given_up.pop(task.id, (state, why))
        self.tags.pop(task.id, None)
        self.targets.leave(task)
        self._tries.pop(task.id, None)
        self._stopping.discard(task.id)
        self._count(task, max(0, size - task.moved))
        self._ended(task, state, size, why)

    def _give_up(self, task: StagerTask, state: str, why: str) -> None:
        """End ``task`` so, once a worker has removed what its tries have left."""
        if task.id in self._given_up:
            return
        if not self.tags.get(task.id):
            if task.state == PENDING:
                self.queue.count_cancelled()
            self._end(task, state, 0, why)
            return
        self._given_up[task.id] = state, why
        self._wait_again(task)

    def _wait_again(self, task: StagerTask) -> None:
        was_waiting, task.state, task.moved = task.state == PENDING, PENDING, 0
        if not was_waiting:
            self.queue.add(task)

    def _gone(self, worker: WorkerProcess, status: str) -> None:
        """The tasks of a worker that died wait again, a few times."""
        self._pool.workers.discard(worker)
        self._again(list(worker.tasks.values()), status)
        self.hand_out()

    def _absent(self, worker: WorkerProcess, why: str) -> None:
        """The host starts no worker now: that is no try of its tasks, which wait."""
        self._pool.workers.discard(worker)
        if why != self._complaint:
            complain(f"no worker can be started: {why}; tasks wait")
            self._complaint = why
        if not self._is_resting:
            self._is_resting = True
            asyncio.get_running_loop().call_later(_REST, self._rested)
        for task in worker.tasks.values():
            if task.id in self._stopping:
                self._give_up(task, CANCELLED, BY_USER)
            else:
                self._wait_again(task)

    def _rested(self) -> None:
        self._is_resting = False
        self.hand_out()

    def _again(self, tasks: list[StagerTask], status: str) -> None:
        for task in tasks:
            if task.has_ended:
                continue
            if task.id in self._given_up:  # no worker can remove them
                self._end(task, FAILED, 0, status)
                continue
            if task.id in self._stopping:
                self._give_up(task, CANCELLED, BY_USER)
                continue
            self._tries[task.id] += 1
            if self._tries[task.id] >= _TRIES:
                why = f"its worker ended {_TRIES} times ({status})"
                self._give_up(task, FAILED, why)
            else:
                self._wait_again(task)


def _give_folder(folder: str, uid: int) -> None:
    """Make ``folder`` that of ``uid``, also where a kill left it root's. Raises
    OSError."""
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700)
    if os.stat(folder).st_uid != uid:
        os.chown(folder, uid, -1)
