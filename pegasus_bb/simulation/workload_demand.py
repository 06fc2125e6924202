"""How much of a task's run time computing was, and how much of it calls to storage."""

from __future__ import annotations

import math
from typing import NamedTuple

from pegasus_bb.model.history import Past
from pegasus_bb.model.speeds import Speed
from pegasus_bb.simulation.demand import Demand, DemandRange


class Moved(NamedTuple):
    read: int  # bytes
    written: int
    files: int


def demand_of(past: Past, speed: Speed, moved: Moved) -> DemandRange:
    """From one run on a place of ``speed``.

    What the model does not give to bytes is computing in the pessimistic end. In the
    optimistic end the kernel's time is operations on that place, if its rate is known.
    """
    moving = speed.of_job(*moved)
    rest = max(past.duration - moving, _processor_floor(past), 0.0)
    if math.isinf(speed.job_ops) or not past.kernel:
        return DemandRange(Demand(rest), Demand(rest))
    calls = min(past.kernel, rest)
    best = Demand(rest - calls, calls * speed.job_ops)
    return DemandRange(Demand(rest), best)


def _processor_floor(past: Past) -> float:
    """Seconds on the wall that the task's user time takes at least: it counts for each
    core that the task uses."""
    if not past.user or past.duration <= 0:
        return 0.0
    cores = max(1, math.ceil(past.user / past.duration))
    return past.user / cores
