"""What bb/drain/<node>.jsonl says of results that left the tier at a pace."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.model.run import Drained

_LATEST = 1e11  # seconds since the epoch
_POINTS = 600  # of a line over time


def drained(folder: Path) -> Drained | None:
    """Read the segments of all transfers; None if nothing was paced. Torn lines are
    left out."""
    segments = sorted(
        segment
        for log in (folder / "bb" / "drain").glob("*.jsonl")
        for segment in read_segments(log)
    )
    if not segments:
        return None
    since = segments[0][0]
    until = max(end for _, end, _ in segments)
    size = sum(size for _, _, size in segments)
    curve = Cumulative(segments)
    return Drained(since, until, size, curve.peak(1.0), tuple(curve.steps()))


def read_segments(log: Path) -> Iterator[tuple[float, float, int]]:
    try:
        lines = log.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            begin, end, size = orjson.loads(line)
            is_one = _is_time(begin) and _is_time(end) and type(size) is int
        except (ValueError, TypeError):
            continue
        if is_one and begin <= end and size > 0:
            yield float(begin), float(end), size


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < _LATEST


class Cumulative:
    """The bytes until each time; those of a segment come evenly while it is written."""

    def __init__(self, segments: Iterable[tuple[float, float, int]]) -> None:
        changes: dict[float, float] = {}
        for begin, end, size in segments:
            end = max(end, begin + 0.001)  # the clock of the log
            rate = size / (end - begin)
            changes[begin] = changes.get(begin, 0.0) + rate
            changes[end] = changes.get(end, 0.0) - rate
        self.times = sorted(changes)
        self._rates = list(accumulate(changes[time] for time in self.times))
        spans = (after - time for time, after in pairwise(self.times))
        pieces = (span * rate for span, rate in zip(spans, self._rates, strict=False))
        self._sums = list(accumulate(pieces, initial=0.0))

    def at(self, time: float) -> float:
        place = bisect_right(self.times, time) - 1
        if place < 0:
            return 0.0
        if place == len(self.times) - 1:
            return self._sums[-1]
        return self._sums[place] + (time - self.times[place]) * self._rates[place]

    def peak(self, seconds: float) -> float:
        """Return the bytes per second of the busiest ``seconds``: they begin or end
        when the rate changes."""
        begins: Sequence[float] = [*self.times, *(t - seconds for t in self.times)]
        return max(self.at(t + seconds) - self.at(t) for t in begins) / seconds

    def steps(self) -> Iterator[tuple[float, float]]:
        """Yield (from when, bytes per second); each step is a second or longer."""
        begin = self.times[0]
        end = self.times[-1]
        step = max(1.0, math.ceil((end - begin) / _POINTS))
        for number in range(math.ceil((end - begin) / step)):
            since = begin + number * step
            yield since, (self.at(since + step) - self.at(since)) / step
        yield end, 0.0
