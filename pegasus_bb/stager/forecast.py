"""When each task will have ended: the queue of a moment, played to its end.

The real queue and the real rules say which tasks a worker gets next, and rates.py how
fast they may go at the same time. How long a task takes by itself is learned per pair
of dataspaces:

seconds = a * files + b * bytes, fitted by least squares over the tasks that ended, each
with the weight 1 / its seconds: one that a busy machine has disturbed counts little. A
sample counts half after each further ``_HALF`` samples, so the estimate follows the
machine. NORNS (papers/003) divides by the number of pairs in place of samples, and
leaves out what waits.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from pegasus_bb.runtime.stager_client.task import StagerTask
from pegasus_bb.stager.rates import Targets, pair_of
from pegasus_bb.stager.task_queue import TaskQueue

Pair = tuple[str, str]  # dataspace of the source, of the destination

_HALF = 8.0
_DECAY = 0.5 ** (1 / _HALF)
_UNKNOWN = (0.01, 1e-8)  # seconds per file and per byte before the first sample
# How much that guess of a byte counts beside samples, as bytes² by seconds: more than
# small files, which say nothing of bytes, and less than one of 1 MB.
_GUESSED = 1e13
_SHORTEST = 1e-6  # seconds of a sample
_REST = 1e-9  # of a task; less than that is done


class Rate:
    """The cost of a file and of a byte between one pair."""

    def __init__(self, sums: list[float] | None = None) -> None:
        """``sums``: of an earlier service."""
        # Of files², files x bytes and bytes², each by the seconds; of files; of bytes.
        self.sums: list[float] = list(sums) if sums else [0.0] * 5
        self._costs: tuple[float, float] | None = None

    def learn(self, files: int, size: int, seconds: float) -> None:
        """Learn that ``files`` files with ``size`` bytes took ``seconds`` in all."""
        took = max(seconds, _SHORTEST)
        squares = (files * files / took, files * size / took, size / took * size)
        more = (*squares, files, size)
        self.sums = [_DECAY * old + new for old, new in zip(self.sums, more)]
        self._costs = None

    @property
    def typical(self) -> int | None:
        """Bytes of a task whose size is not known; None before the first sample."""
        return int(self.sums[4] / self.sums[3]) if self.sums[3] else None

    def seconds(self, size: int) -> float:
        """Return what a task of ``size`` bytes takes."""
        if self._costs is None:
            self._costs = self._fitted()
        return self._costs[0] + self._costs[1] * size

    def _fitted(self) -> tuple[float, float]:
        ff, fb, bb, f, b = self.sums
        if not f:
            return _UNKNOWN
        more = b + _GUESSED * _UNKNOWN[1]
        most = bb + _GUESSED
        determinant = ff * most - fb * fb
        if determinant > 1e-9 * ff * most:
            per_file = (f * most - more * fb) / determinant
            per_byte = (more * ff - f * fb) / determinant
            if per_file >= 0 and per_byte >= 0:
                return per_file, per_byte
        if b > 0:  # all of one size, or noise: one of the two explains it
            return 0.0, b / bb
        return f / ff, 0.0


class Estimates:
    """What is known of the costs of each pair of dataspaces."""

    def __init__(self) -> None:
        self._rates: dict[Pair, Rate] = {}
        self.has_news = False  # since ``learned`` was asked for

    def learn(self, pair: Pair, files: int, size: int, seconds: float) -> None:
        """See Rate.learn."""
        self._rates.setdefault(pair, Rate()).learn(files, size, seconds)
        self.has_news = True

    def of(self, pair: Pair) -> Rate:
        """Return what is known of ``pair``; a guess if no task of it has ended."""
        return self._rates.get(pair, _NEW)

    def learned(self) -> list[Any]:
        """All that the next service needs to know as much."""
        self.has_news = False
        return [[*pair, rate.sums] for pair, rate in self._rates.items()]

    def recall(self, learned: Any) -> None:
        """Continue with what ``learned`` of an earlier service said."""
        for source, dest, sums in learned:
            self._rates[source, dest] = Rate(sums)


_NEW = Rate()


class _Working:
    """A worker and its assignment: one task after the other."""

    def __init__(self, tasks: Sequence[StagerTask]) -> None:
        self.tasks: deque[StagerTask] = deque(tasks)
        self.uid = tasks[0].uid
        self.is_slow = any(task.terms.rate for task in tasks)
        self.size = self.left = self.speed = 0.0  # of the first task
        self.targets: set[str] = set()


class Forecast(NamedTuple):
    """The queue of one moment, which can be played to its end: ``queue`` is a copy."""

    running: list[list[StagerTask]]  # by worker
    queue: TaskQueue
    estimates: Estimates
    targets: Targets
    now: float  # a time.time()

    def seconds_left(self) -> dict[int, float]:
        """Return seconds until each task that waits or runs has ended. It is not there
        where its size is not known and no task of its pair has ended; for those behind
        it, it takes no time."""
        working = [self._begun(tasks) for tasks in self.running if tasks]
        found: dict[int, float] = {}
        passed = 0.0
        while True:
            while True:
                busy = [(worker.uid, worker.is_slow) for worker in working]
                tasks = self.queue.assignment(busy, self.now + passed)
                if not tasks:
                    break
                working.append(self._begun(tasks))
            if not working:
                return found
            passed += self._go_on(working)
            for worker in working:
                if worker.left <= _REST * worker.size:
                    task = worker.tasks.popleft()
                    if self._size(task) is not None:
                        found[task.id] = passed
                    if worker.tasks:
                        self._begin(worker)
            working = [worker for worker in working if worker.tasks]

    def _go_on(self, working: list[_Working]) -> float:
        """All go on until the first of their tasks ends; seconds until then."""
        speeds = [worker.speed for worker in working]
        if any(worker.targets for worker in working):
            users = [(worker.speed, worker.targets) for worker in working]
            speeds = max_min_rates(users, self.targets.rates)
        step = min(w.left / speed for w, speed in zip(working, speeds))
        for worker, speed in zip(working, speeds):
            worker.left -= speed * step
        return step

    def _begun(self, tasks: Sequence[StagerTask]) -> _Working:
        worker = _Working(tasks)
        self._begin(worker)
        return worker

    def _begin(self, worker: _Working) -> None:
        task = worker.tasks[0]
        whole = max(1, self._size(task) or 0)
        worker.size = float(whole)
        worker.left = float(max(1, whole - task.moved))
        worker.speed = whole / self.estimates.of(pair_of(task)).seconds(whole)
        worker.targets = self.targets.limited([task])

    def _size(self, task: StagerTask) -> int | None:
        """Bytes, as far as is known."""
        return task.size or self.estimates.of(pair_of(task)).typical


def max_min_rates(
    users: Sequence[tuple[float, Collection[str]]], capacities: Mapping[str, float]
) -> list[float]:
    """Return how fast each of ``users`` goes: (its own limit, the targets it uses).

    Each is as fast as its limit, or as fast as any other that uses a target whose
    capacity is used up (Bertsekas and Gallager 1992, section 6.5.2). Two simulators
    have faster forms for one target, which tests hold against this one: SharedServer
    of forecast/fair_sharing.py for an event at a time, SharedServers of pegasus_bb_lab
    for thousands of servers in NumPy.
    """
    left = dict(capacities)
    speeds = [0.0] * len(users)
    open_users = set(range(len(users)))
    while open_users:
        counts = Counter(name for user in open_users for name in users[user][1])
        equal = {name: left[name] / count for name, count in counts.items()}
        bounds = {
            user: min([users[user][0], *(equal[name] for name in users[user][1])])
            for user in open_users
        }
        lowest = min(bounds.values())
        for user, bound in bounds.items():
            if bound <= lowest * (1 + 1e-9):
                speeds[user] = lowest
                open_users.discard(user)
                for name in users[user][1]:
                    left[name] = max(0.0, left[name] - lowest)
    return speeds
