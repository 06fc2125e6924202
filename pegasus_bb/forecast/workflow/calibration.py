"""An earlier run is simulated, and what its tasks took longer than they did is taken
back.

Measured times have the contention of their run in them: a task that waited for a server
would wait for it twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pegasus_bb.forecast.demands.demand import Demand, DemandRange
from pegasus_bb.forecast.workflow.execution import Execution
from pegasus_bb.forecast.workflow.simulator import Mode, Simulator

_ROUNDS = 3
_NEAR = 0.01  # of all run times together: near enough


def calibrated(
    simulator: Simulator, mode: Mode, measured: Mapping[str, float]
) -> Simulator:
    """Return ``simulator`` with demands by which no task of ``mode``, that of the
    earlier run, takes longer than ``measured``: seconds by job id."""
    work = simulator.planned.work
    pessimistic = [load.demand.pessimistic for load in work.loads]
    optimistic = [load.demand.optimistic for load in work.loads]
    low = _fitted(simulator, mode, pessimistic, measured)
    high = low if work.is_known else _fitted(simulator, mode, optimistic, measured)
    loads = tuple(
        replace(load, demand=_with_ends(load.demand, one, other))
        for load, one, other in zip(work.loads, low, high, strict=True)
    )
    planned = replace(simulator.planned, work=replace(work, loads=loads))
    return simulator.with_planned(planned)


def _with_ends(demand: DemandRange, one: Demand, other: Demand) -> DemandRange:
    if demand.pessimistic is one and demand.optimistic in (one, other):
        return demand
    return replace(demand, pessimistic=one, optimistic=other)


def _fitted(
    simulator: Simulator,
    mode: Mode,
    demands: list[Demand],
    measured: Mapping[str, float],
) -> list[Demand]:
    ids = [load.job.id for load in simulator.planned.work.loads]
    for _ in range(_ROUNDS):
        done = simulator.execute(mode, demands)
        over = [
            max(0.0, done.stopped[at] - done.began[at] - measured[ident])
            if ident in measured
            else 0.0
            for at, ident in enumerate(ids)
        ]
        if sum(over) <= _NEAR * sum(measured.values()):
            break
        demands = _less(demands, done, over)
    return demands


def _less(
    demands: Sequence[Demand], done: Execution, over: Sequence[float]
) -> list[Demand]:
    """Reduce demands by the seconds ``over``: operations first, for those had to
    wait."""
    found = []
    for at, (demand, excess) in enumerate(zip(demands, over, strict=True)):
        if not excess:
            found.append(demand)
            continue
        storage = done.stopped[at] - done.began[at] - demand.compute
        calls = demand.operations
        if calls and storage > 0:
            left = max(0.0, 1 - excess / storage)
            calls = calls * left
            excess = max(0.0, excess - storage)
        found.append(Demand(max(0.0, demand.compute - excess), calls))
    return found
