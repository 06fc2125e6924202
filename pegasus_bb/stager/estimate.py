"""How long a task takes by itself: learned per pair of dataspaces.

seconds = a * files + b * bytes, fitted by least squares over the tasks that ended, each
with the weight 1 / its seconds: one that a busy machine has disturbed counts little. A
sample counts half after each further ``_HALF`` samples, so the estimate follows the
machine. NORNS (papers/003) divides by the number of pairs in place of samples, and
leaves out what waits; forecast.py has that.
"""

from __future__ import annotations

from typing import Any

Pair = tuple[str, str]  # dataspace of the source, of the destination

_HALF = 8.0
_DECAY = 0.5 ** (1 / _HALF)
_UNKNOWN = (0.01, 1e-8)  # seconds per file and per byte before the first sample
# How much that guess of a byte counts beside samples, as bytes² by seconds: more than
# small files, which say nothing of bytes, and less than one of 1 MB.
_GUESSED = 1e13
_SHORTEST = 1e-6  # seconds of a sample


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
    """Of all pairs."""

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
