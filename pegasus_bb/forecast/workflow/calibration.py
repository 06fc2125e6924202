"""An earlier run is simulated, and what its tasks took longer than they did is taken
back; before that, speeds get the rates of operations that its run times show.

Measured times have the contention of their run in them: a task that waited for a server
would wait for it twice.

A benchmark may meet a place in another state than the tasks do, and a speeds file may
name no rates. Run times on two places fix computing and operations only if both rates
are known, and of unknown rates they show the ratio alone. The assumptions:

* the slower place has the rate of the speeds; if they name none, ``UNKNOWN`` a job; if
  they say that it is faster than the other, its rate becomes lower, and no other does;
* a task computes at least for its user time, divided by the cores that it used;
* the other place is as fast as the speeds say, or as much faster as it takes to explain
  the largest gain of the kinds of tasks that matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pegasus_bb.forecast.demands.demand import Demand, DemandRange
from pegasus_bb.forecast.workflow.execution import Execution
from pegasus_bb.forecast.workflow.simulator import Mode, Simulator
from pegasus_bb.model.history import History, Past
from pegasus_bb.model.mean_and_error import ALIKE
from pegasus_bb.model.speeds import Speed, Speeds

UNKNOWN = 10_000.0  # operations a second; only ratios to it mean anything
_MATTERS = 0.05  # of the run time of all kinds of tasks
_LEAST = 1e-3  # of the slower place's time for an operation
_ROUNDS = 3
_NEAR = 0.01  # of all run times together: near enough


def fitted_speeds(history: History, speeds: Speeds) -> Speeds:
    """Return ``speeds``, with other rates of operations if the runs of ``history`` need
    them: the same object if they do not, or if all of them were on one place."""
    runs = {run.place: run for run in (history, *history.others)}
    seen = [name for name in runs if name in speeds.places]
    if len(seen) < 2:
        return speeds
    slow = _slowest({name: runs[name] for name in seen}, speeds)
    places = {**speeds.places, slow: _rated(speeds.places[slow], UNKNOWN, speeds.slots)}
    for name in seen:
        if name != slow:
            one = places[slow]
            other = places[name]
            shares = _shares(runs[slow], one, runs[name], other)
            least = max(_LEAST, min(shares, default=1.0))
            if one.job_ops > other.job_ops:  # declared faster, and measured slower
                places[slow] = _faster(one, other.job_ops * least, speeds.slots)
            elif math.isinf(other.job_ops) or least < one.job_ops / other.job_ops:
                places[name] = _faster(other, one.job_ops / least, speeds.slots)
    if places == speeds.places:
        return speeds
    source = f"{speeds.source}, rates of operations by {history.source}"
    return replace(speeds, places=places, source=source)


def _slowest(runs: Mapping[str, History], speeds: Speeds) -> str:
    """The place where the tasks took longest; of places about as slow, the one with the
    lowest rate of operations."""
    longest = max(map(_all, runs.values()))
    slow = [name for name, run in runs.items() if _all(run) >= longest * (1 - ALIKE)]
    return min(slow, key=lambda name: (speeds.places[name].job_ops, -_all(runs[name])))


def _all(run: History) -> float:
    return sum(past.duration for past in run.transformations.values())


def _rated(speed: Speed, rate: float, slots: int) -> Speed:
    """Give ``speed`` a rate: that of all jobs is unknown, so none waits for another."""
    if math.isfinite(speed.job_ops):
        return speed
    return replace(speed, job_ops=rate, ops=rate * slots)


def _faster(speed: Speed, rate: float, slots: int) -> Speed:
    if math.isinf(speed.job_ops):
        return _rated(speed, rate, slots)
    return replace(speed, job_ops=rate, ops=speed.ops * rate / speed.job_ops)


def _shares(slow: History, one: Speed, fast: History, other: Speed) -> Iterator[float]:
    """Yield, for each kind of task that gained, how long an operation took on ``fast``,
    as a part of its time on ``slow``, if all that does not compute were operations."""
    for kind, past in slow.transformations.items():
        faster = fast.transformations.get(kind)
        if faster is None or past.duration < _MATTERS * _all(slow):
            continue
        user = min(past.computing, faster.computing)
        long = _rest(past, one) - user
        short = _rest(faster, other) - user
        if 0 < short < long:
            yield short / long


def _rest(past: Past, speed: Speed) -> float:
    return past.duration - speed.of_job(past.read or 0, past.written or 0, 0)


def calibrated(
    simulator: Simulator, mode: Mode, measured: Mapping[str, float]
) -> Simulator:
    """Return ``simulator`` with demands by which no task of ``mode``, that of the
    earlier run, takes longer than it did there, as it would with the files of now.
    ``measured``: seconds by id, of the jobs that ran."""
    work = simulator.planned.work
    pessimistic = [load.demand.pessimistic for load in work.loads]
    optimistic = [load.demand.optimistic for load in work.loads]
    ran = [load.takes if load.job.id in measured else None for load in work.loads]
    most = [seconds and seconds[0] for seconds in ran]
    least = [seconds and seconds[1] for seconds in ran]
    low = _fitted(simulator, mode, pessimistic, most)
    high = low if work.is_known else _fitted(simulator, mode, optimistic, least)
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
    limits: Sequence[float | None],
) -> list[Demand]:
    whole = sum(seconds or 0.0 for seconds in limits)
    for _ in range(_ROUNDS):
        done = simulator.execute(mode, demands)
        over = [
            0.0 if seconds is None else max(0.0, stopped - began - seconds)
            for began, stopped, seconds in zip(
                done.began, done.stopped, limits, strict=False
            )
        ]
        if sum(over) <= _NEAR * whole:
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
