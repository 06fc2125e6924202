"""How long a task will take: learned per pair of dataspaces, the waiting included.

seconds = a * files + b * bytes, fitted by least squares over the tasks that ended; a
sample counts half after each further ``_HALF`` samples, so the estimate follows the
machine. NORNS (papers/003) divides by the number of pairs in place of samples, and
leaves out what waits.
"""

from __future__ import annotations

import heapq
from typing import Dict, Iterable, NamedTuple, Tuple

Pair = Tuple[str, str]  # dataspace of the source, of the destination

_HALF = 8.0
_DECAY = 0.5 ** (1 / _HALF)
_UNKNOWN = (0.01, 1e-8)  # seconds per file and per byte before the first sample


class Load(NamedTuple):
    """What a task still has to do."""

    task: int
    pair: Pair
    size: int  # bytes; 0: not known
    limit: float = 0.0  # its own rate, in bytes per second; 0: none


class Rate:
    """The cost of a file and of a byte between one pair."""

    def __init__(self) -> None:
        self._ff = self._fb = self._bb = self._fs = self._bs = 0.0
        self._files = self._bytes = self._weight = 0.0

    def learn(self, files: int, size: int, seconds: float) -> None:
        """``files`` files with ``size`` bytes took ``seconds``."""
        sums = ("_ff", "_fb", "_bb", "_fs", "_bs", "_files", "_bytes", "_weight")
        more = (
            files * files,
            files * size,
            float(size) * size,
            files * seconds,
            size * seconds,
            files,
            size,
            1,
        )
        for name, value in zip(sums, more):
            setattr(self, name, getattr(self, name) * _DECAY + value)

    @property
    def typical(self) -> int:
        """Bytes of a task whose size is not known."""
        return int(self._bytes / self._weight) if self._weight else 0

    def seconds(self, files: int, size: int) -> float:
        """What such a task takes."""
        per_file, per_byte = self._fitted()
        return per_file * files + per_byte * size

    def _fitted(self) -> Tuple[float, float]:
        if not self._weight:
            return _UNKNOWN
        determinant = self._ff * self._bb - self._fb * self._fb
        if determinant > 1e-9 * self._ff * self._bb:
            per_file = (self._fs * self._bb - self._bs * self._fb) / determinant
            per_byte = (self._bs * self._ff - self._fs * self._fb) / determinant
            if per_file >= 0 and per_byte >= 0:
                return per_file, per_byte
        if self._bs > 0:  # all of one size, or noise: one of the two explains it
            return 0.0, self._bs / self._bb
        return self._fs / self._ff, 0.0


class Estimates:
    """Of all pairs."""

    def __init__(self) -> None:
        self._rates: Dict[Pair, Rate] = {}

    def of(self, pair: Pair) -> Rate:
        """The rate of ``pair``; of a guess if no task of it has ended."""
        return self._rates.setdefault(pair, Rate())

    def all_until_done(
        self, loads: Iterable[Load], workers: int, slow_workers: int
    ) -> Dict[int, float]:
        """Seconds until each task ends; ``loads`` come in the order of their
        beginning. A task begins when a worker is free; ``slow_workers`` of them may do
        a task with a rate of its own at a time."""
        free = [0.0] * workers  # a heap: when each worker is
        slow = [0.0] * slow_workers  # a heap: when one more of them may be slow
        found: Dict[int, float] = {}
        for load in loads:
            begin = max(free[0], slow[0]) if load.limit else free[0]
            end = found[load.task] = begin + self._seconds(load)
            if load.limit:
                heapq.heapreplace(slow, end)
                free.remove(max(when for when in free if when <= begin))
                heapq.heapify(free)
                heapq.heappush(free, end)
            else:
                heapq.heapreplace(free, end)
        return found

    def _seconds(self, load: Load) -> float:
        rate = self.of(load.pair)
        size = load.size or rate.typical
        slowest = size / load.limit if load.limit else 0.0
        return max(rate.seconds(1, size), slowest)
