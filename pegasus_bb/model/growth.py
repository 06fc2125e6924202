"""How many times the bytes of an earlier run a task has now, and which part of its run
time does not grow with them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import correlation, linear_regression
from typing import NamedTuple, TypeAlias

Sized: TypeAlias = Sequence[tuple[str, int]]  # (LFN, bytes)
SAME_SIZE = 0.05  # a difference in bytes that changes nothing
_SPREAD = 1.5  # of sizes: of tasks nearer to each other a line tells nothing
_LINEAR = 0.9  # correlation of sizes and times: below it a line tells nothing
_TELLS = 1 << 10  # bytes: a smaller file that changed tells of no work


class Growth(NamedTuple):
    size: float = 1.0  # times the bytes of all its files
    work: float = 1.0  # times as much to do, if all of that grows
    fixed: float | None = None  # of its time; None: runs of several sizes do not tell

    @property
    def is_none(self) -> bool:
        return max(abs(self.size - 1), abs(self.work - 1)) <= SAME_SIZE


class Then(NamedTuple):
    """What an earlier run says of the task."""

    sizes: Mapping[str, int]  # bytes by LFN, of files that it has now too
    made: int | None  # bytes of its outputs
    seconds: float


def growth(then: Then, files: Sized, made: Sized) -> Growth:
    """Compare with ``files``, of which the task makes ``made``.

    Its work is the ratio of all bytes, or that of the files that changed, whichever is
    farther from 1: it may follow a few of many files. If some have other names, outputs
    are compared: records name those. 1 if nothing tells.
    """
    sizes = then.sizes
    if all(sizes.get(lfn) == size for lfn, size in files):
        return Growth()
    is_same = all(lfn in sizes for lfn, _ in files)
    before = sum(sizes[lfn] for lfn, _ in files) if is_same else then.made
    now = sum(size for _, size in (files if is_same else made))
    whole = now / before if now and before else 1.0
    some = _ratio(_changed(then, files), then)
    return Growth(whole, max(whole, some, key=lambda ratio: abs(math.log(ratio))))


def _ratio(files: Sized, then: Then) -> float:
    now = sum(size for _, size in files)
    return now / sum(then.sizes[lfn] for lfn, _ in files) if files else 1.0


def _changed(then: Then, files: Sized) -> list[tuple[str, int]]:
    return [
        (lfn, size)
        for lfn, size in files
        if lfn in then.sizes
        and min(size, then.sizes[lfn]) >= _TELLS
        and abs(size / then.sizes[lfn] - 1) > SAME_SIZE
    ]


def growths(thens: Sequence[Then], files: Sized, made: Sized) -> list[Growth]:
    """Compare with several runs on one place: if they had several sizes, they show
    which part of the time grows."""
    each = [growth(then, files, made) for then in thens]
    if len(thens) == 1:
        return each
    sizes, now = _comparable(thens, files, made)
    if not now or not sizes or not _SPREAD * min(sizes) <= max(sizes):
        return each
    points = [(size, then.seconds) for size, then in zip(sizes, thens, strict=True)]
    found = []
    for size, known in zip(sizes, each, strict=True):
        fixed = _fixed_part(points, size)
        other = known if fixed is None else Growth(known.size, now / size, fixed)
        found.append(other)
    return found


def _comparable(
    thens: Sequence[Then], files: Sized, made: Sized
) -> tuple[list[int], int]:
    """Return the bytes in each run, and now, of the files that ever changed; of outputs
    if some files have other names. Empty if a run does not know them."""
    if all(lfn in then.sizes for then in thens for lfn, _ in files):
        ever = dict(use for then in thens for use in _changed(then, files))
        return [sum(t.sizes[lfn] for lfn in ever) for t in thens], sum(ever.values())
    outputs = [then.made for then in thens if then.made]
    known = outputs if len(outputs) == len(thens) else []
    return known, sum(size for _, size in made)


def _fixed_part(points: Sequence[tuple[float, float]], at: float) -> float | None:
    """Return the part of the time of a task of ``at`` bytes that does not grow with
    them, by least squares over (bytes, seconds). None if these follow no line."""
    sizes = [size for size, _ in points]
    seconds = [duration for _, duration in points]
    differ = len(points) > 2 and min(seconds) < max(seconds)
    if differ and abs(correlation(sizes, seconds)) < _LINEAR:
        return None
    slope, intercept = linear_regression(sizes, seconds)
    whole = intercept + slope * at
    return min(1.0, max(0.0, intercept / whole)) if whole > 0 else None
