"""The rate of a target, a file system say: one bucket for all users, runs and workers.

A worker that has moved bytes says so and waits for the service. So what one worker
does not use is at once another's, and the part of a worker that dies is not lost.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from pegasus_bb.runtime.stager_client.dataspace import Dataspaces
from pegasus_bb.runtime.stager_client.task import PENDING, RUNNING, StagerTask

_BURST = 0.05  # seconds of the rate that may go at once
_PIECE = 0.02  # seconds of the rate that a worker takes at a time
_SMALLEST = 64 << 10  # bytes of a piece
_LARGEST = 16 << 20  # bytes of a piece of tasks with a share, whose rate may change
_MEMORY = 5.0  # seconds over which a speed is a mean


def pair_of(task: StagerTask) -> tuple[str, str]:
    """The dataspaces of its source and of its destination; empty if it has none."""
    return task.source.partition("://")[0], task.dest.partition("://")[0]


class Bucket:
    """Says when the next bytes may go, so that the mean keeps to ``rate``. This is the
    virtual scheduling of ITU-T I.371: who asks first goes on first."""

    def __init__(self, rate: float) -> None:
        self.rate = rate  # bytes per second, above 0 when ``take`` is called
        self._used_until = -math.inf

    def take(self, size: int, now: float) -> float:
        """Count ``size`` bytes; return until when to wait with more of them."""
        begin = max(self._used_until, now - _BURST)
        self._used_until = begin + size / self.rate
        return self._used_until


class Meter:
    """Bytes so far, and bytes per second of late."""

    def __init__(self) -> None:
        self.bytes = 0
        self._speed, self._at = 0.0, -math.inf

    def add(self, size: int, now: float) -> None:
        """Count ``size`` bytes that were moved."""
        self._speed, self._at = self.speed(now) + size / _MEMORY, now
        self.bytes += size

    def speed(self, now: float) -> float:
        """Return bytes per second, the last seconds above all."""
        return self._speed * math.exp(-max(0.0, now - self._at) / _MEMORY)


class Targets:
    """All targets of a service: those of its dataspaces."""

    def __init__(self, spaces: Dataspaces) -> None:
        self._by_space = {s.name: s.target or s.name for s in spaces.values()}
        self._buckets: dict[str, Bucket] = {}  # of those that have a rate
        for space in sorted(spaces.values(), key=lambda space: space.rate):
            if space.rate > 0:  # the largest counts
                self._buckets[self._by_space[space.name]] = Bucket(space.rate)
        self._sharing: Counter[str] = Counter()  # tasks that have not ended, by share
        self.meters = {name: Meter() for name in self._by_space.values()}

    def join(self, task: StagerTask) -> None:
        """Add ``task``. Its share, if it has one, is a target with the rate of the last
        who joined."""
        name = task.share
        rate = task.terms.rate
        if not name:
            return
        self._sharing[name] += 1
        if self._rate(name) != rate:  # others may have its bucket since a change
            self._buckets[name] = Bucket(rate)

    def change(self, uid: int, begins: str, rate: float) -> int:
        """The tasks of user ``uid`` in shares that begin with ``begins`` have ``rate``
        together from now on; 0: no limit. Returns how many shares those are."""
        names = [each for each in self._sharing if each.startswith(f"{uid} {begins}")]
        bucket = Bucket(rate)
        for name in names:
            self._buckets.pop(name, None)
            if rate:
                self._buckets[name] = bucket
        return len(names)

    def leave(self, task: StagerTask) -> None:
        """Remove ``task``, which has joined, and has ended."""
        name = task.share
        if name:
            self._sharing[name] -= 1
            if not self._sharing[name]:
                del self._sharing[name]
                self._buckets.pop(name, None)

    @property
    def rates(self) -> dict[str, float]:
        """Those that targets and shares have."""
        return {name: bucket.rate for name, bucket in self._buckets.items()}

    def _rate(self, name: str) -> float:
        return self._buckets[name].rate if name in self._buckets else 0.0

    def of(self, tasks: Iterable[StagerTask]) -> set[str]:
        """The targets that ``tasks`` use."""
        spaces = {name for task in tasks for name in pair_of(task)}
        return {self._by_space[name] for name in spaces if name in self._by_space}

    def limited(self, tasks: Collection[StagerTask]) -> set[str]:
        """Return those of them that have a rate, and the shares of ``tasks``."""
        wanted = self.of(tasks).union(task.share for task in tasks)
        return {name for name in wanted if name in self._buckets}

    def piece(self, tasks: Collection[StagerTask]) -> int:
        """Return the bytes after which a worker that does ``tasks`` asks; 0: never."""
        rates = [self._rate(name) for name in self.limited(tasks)]
        piece = max(_SMALLEST, int(min(rates) * _PIECE)) if rates else 0
        if any(task.terms.share for task in tasks):
            return min(piece or _LARGEST, _LARGEST)
        return piece

    def take(self, tasks: Collection[StagerTask], size: int, now: float) -> float:
        """Count ``size`` bytes of ``tasks``; return the seconds that they wait."""
        names = self.limited(tasks)
        return max([0.0, *(self._buckets[n].take(size, now) - now for n in names)])

    def shown(
        self, tasks: Iterable[StagerTask], now: float
    ) -> dict[str, dict[str, Any]]:
        """Return of each target its rate (0: none), its speed, the bytes so far, and
        how many of ``tasks`` use it, by state."""
        found: dict[str, dict[str, Any]] = {
            name: {
                "rate": self._rate(name),
                "speed": meter.speed(now),
                "bytes": meter.bytes,
                PENDING: 0,
                RUNNING: 0,
            }
            for name, meter in self.meters.items()
        }
        names: dict[tuple[str, str], set[str]] = {}  # by pair
        for task in tasks:
            if not task.has_ended:
                pair = pair_of(task)
                if pair not in names:
                    names[pair] = self.of([task])
                for name in names[pair]:
                    found[name][task.state] += 1
        return found

    def count(self, task: StagerTask, size: int, now: float) -> None:
        """Count ``size`` bytes of ``task``."""
        for name in self.of([task]):
            self.meters[name].add(size, now)
