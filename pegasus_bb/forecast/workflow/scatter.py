"""How much runs of one workload differ from each other: no forecast is surer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from statistics import fmean

from pegasus_bb.model.history import History

_DEVIATIONS = 2  # of ln(makespan): of further runs one in twenty is beyond


def scatter(history: History) -> float:
    """By which factor a run may be longer or shorter than its forecast, from all runs
    that were repeated in their mode; 1 if none was."""
    squares = 0.0
    free = 0
    for logs in _repeated((history, *history.others)):
        mean = fmean(logs)
        squares += sum((log - mean) ** 2 for log in logs)
        free += len(logs) - 1
    return math.exp(_DEVIATIONS * math.sqrt(squares / free)) if free else 1.0


def _repeated(runs: Iterable[History]) -> Iterator[list[float]]:
    """Yield ln(seconds) of the runs of each workload: the same mode, files about as
    large. A run without sizes may be of any workload."""
    known: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        if run.makespan and run.sizes:
            about = f"{sum(run.sizes.values()):.1e}"
            logs = known.setdefault((run.mode, about), [])
            logs.append(math.log(run.makespan))
    yield from known.values()
