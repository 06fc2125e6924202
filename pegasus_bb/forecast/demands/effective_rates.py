"""The rates of a place as tasks had them, from what runs there have recorded.

A task spends the seconds outside of its user time on storage: its bytes, read and
written, and its calls. Seconds of a byte and of a call are fitted to many tasks by
least squares over relative errors, neither below zero. Declared rates are peaks; these
have the contention, the caches and the access patterns of real tasks in them.

If calls explain all but a few per cent of the time, the rate of bytes was not measured,
and the other way round. Then it has a lower bound: a slower place would have shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from statistics import fmean, median
from typing import NamedTuple

from pegasus_bb.forecast.demands.learned import SMALL
from pegasus_bb.model.history import Past
from pegasus_bb.model.speeds import BYTES, CALLS

FEW = 4  # tasks: of fewer nothing is learned
_SHORT = 0.01  # seconds on storage: of less the clock tells nothing
_NOTICED = 0.05  # of the seconds on storage: less would not show in any fit


class Sample(NamedTuple):
    """What one task had of its place."""

    seconds: float  # outside of its user time
    size: int  # bytes read and written
    calls: int  # that surely moved few bytes, as ``learned`` counts them
    together: float  # tasks that ran at the same time


class EffectiveRates(NamedTuple):
    """Of one job."""

    bytes: float  # a second
    calls: float  # a second; infinite if the tasks made none
    together: float  # jobs that had this at the same time
    error: float  # median of |fitted / measured - 1|
    tasks: int
    at_least: str  # of which of both the rate is a lower bound
    sizes: tuple[int, int] | None  # of the tasks, least and most; None: unknown


def samples_of(pasts: Iterable[Past]) -> list[Sample]:
    """The tasks of which user time and bytes are known, and that used storage."""
    found = []
    for past in pasts:
        if past.user is None or past.read is None or past.written is None:
            continue
        size = past.read + past.written
        if not size:
            continue
        seconds = past.duration - past.computing
        if seconds >= _SHORT:
            small = max(0, (past.calls or 0) - size // SMALL)
            calls = small + (past.metadata or 0)
            found.append(Sample(seconds, size, calls, past.concurrency or 1.0))
    return found


def fit_rates(samples: Sequence[Sample]) -> EffectiveRates | None:
    """Fit the rates; None if there are too few tasks."""
    if len(samples) < FEW:
        return None
    rows = [(s.size / s.seconds, s.calls / s.seconds) for s in samples]
    each_byte, each_call = _least_squares(rows)
    error = median(abs(a * each_byte + b * each_call - 1) for a, b in rows)
    at_least = ""
    calls_first = [(b, a) for a, b in rows]
    if _is_lost(rows, each_byte):
        at_least = BYTES
        each_byte = _unnoticed(rows, error)
    elif any(s.calls for s in samples) and _is_lost(calls_first, each_call):
        at_least = CALLS
        each_call = _unnoticed(calls_first, error)
    sizes = [s.size for s in samples]
    return EffectiveRates(
        1 / each_byte,
        1 / each_call if each_call else math.inf,
        max(1.0, median(s.together for s in samples)),
        error,
        len(samples),
        at_least,
        (min(sizes), max(sizes)),
    )


def _is_lost(rows: Sequence[tuple[float, float]], x: float) -> bool:
    """Whether a x is so small a part of all seconds that no fit tells it."""
    return x * math.sqrt(fmean(a * a for a, _ in rows)) < _NOTICED


def _unnoticed(rows: Sequence[tuple[float, float]], error: float) -> float:
    """The most seconds x for which a x, beside all b y, is within the error of a fit;
    no more than explain all of the time."""
    aa = sum(a * a for a, _ in rows)
    bb = sum(b * b for _, b in rows)
    ab = sum(a * b for a, b in rows)
    alone = sum(a for a, _ in rows) / aa
    apart = aa - (ab * ab / bb if bb else 0.0)  # of a, what b does not follow
    if apart <= 1e-9 * aa:
        return alone
    return min(alone, max(error, _NOTICED) * math.sqrt(len(rows) / apart))


def _least_squares(rows: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the x, y >= 0 for which a x + b y is nearest to 1 over the rows (a, b)."""
    aa = sum(a * a for a, _ in rows)
    bb = sum(b * b for _, b in rows)
    ab = sum(a * b for a, b in rows)
    a1 = sum(a for a, _ in rows)
    b1 = sum(b for _, b in rows)
    determinant = aa * bb - ab * ab
    if determinant > 1e-9 * aa * bb:
        x = (a1 * bb - b1 * ab) / determinant
        y = (b1 * aa - a1 * ab) / determinant
        if x >= 0 and y >= 0:
            return x, y
    alone = [(a1 / aa, 0.0)] if aa else []
    alone += [(0.0, b1 / bb)] if bb else []
    return min(alone, key=partial(_missed, rows))


def _missed(rows: Sequence[tuple[float, float]], found: tuple[float, float]) -> float:
    return sum((a * found[0] + b * found[1] - 1) ** 2 for a, b in rows)
