"""Bytes over time, from what came and went."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate


def steps(
    lives: Iterable[tuple[int, float, float | None]],
) -> Iterator[tuple[float, int]]:
    """(From then on, so many bytes) of ``lives``: bytes, since, until; None: they are
    there still."""
    changes: dict[float, int] = defaultdict(int)
    for size, since, until in lives:
        changes[since] += size
        if until is not None:
            changes[max(since, until)] -= size
    times = sorted(changes)
    yield from zip(times, accumulate(changes[time] for time in times), strict=True)
