"""How much runs of one workload differ from each other: no forecast is surer."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pegasus_bb.model.history import History
from pegasus_bb.model.mean_and_error import log_deviation

_DEVIATIONS = 2  # of ln(makespan): of further runs one in twenty is beyond


def scatter(history: History) -> float:
    """By which factor a run may be longer or shorter than its forecast, from all runs
    that were repeated in their mode; 1 if none was."""
    deviation = log_deviation(_repeated((history, *history.others)))
    return math.exp(_DEVIATIONS * deviation) if deviation is not None else 1.0


def _repeated(runs: Iterable[History]) -> Iterable[list[float]]:
    """The seconds of the runs of each workload: the same mode, files about as large. A
    run without sizes may be of any workload."""
    known: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        if run.makespan and run.sizes:
            about = f"{sum(run.sizes.values()):.1e}"
            known.setdefault((run.mode, about), []).append(run.makespan)
    return known.values()
