"""Rates of operations that runs on two places show, if those of the speeds do not
explain them.

A benchmark may meet a place in another state than the tasks do, and a speeds file may
name no rates. Run times on two places fix computing and operations only if both rates
are known, and of unknown rates they show the ratio alone. The assumptions:

* the slower place has the rate of the speeds; if they name none, ``UNKNOWN`` a job;
* a task computes at least for its user time, divided by the cores that it used;
* the other place is as fast as the speeds say, or as much faster as it takes to explain
  the largest gain of the kinds of tasks that matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from pegasus_bb.model.history import History, Past
from pegasus_bb.model.speeds import Speed, Speeds

UNKNOWN = 10_000.0  # operations a second; only ratios to it mean anything
_MATTERS = 0.05  # of the run time of all kinds of tasks
_LEAST = 1e-3  # of the slower place's time for an operation


def fitted_speeds(history: History, speeds: Speeds) -> Speeds:
    """Return ``speeds``, with other rates of operations if the runs of ``history`` need
    them: the same object if they do not, or if all of them were on one place."""
    runs = {run.place: run for run in (history, *history.others)}
    seen = [name for name in runs if name in speeds.places]
    if len(seen) < 2:
        return speeds
    slow = min(seen, key=lambda name: (speeds.places[name].job_ops, -_all(runs[name])))
    places = {**speeds.places, slow: _rated(speeds.places[slow], UNKNOWN, speeds.slots)}
    for name in seen:
        if name != slow:
            one = places[slow]
            other = places[name]
            shares = _shares(runs[slow], one, runs[name], other)
            least = max(_LEAST, min(shares, default=1.0))
            if math.isinf(other.job_ops) or least < one.job_ops / other.job_ops:
                places[name] = _faster(other, one.job_ops / least, speeds.slots)
    if places == speeds.places:
        return speeds
    source = f"{speeds.source}, rates of operations by {history.source}"
    return replace(speeds, places=places, source=source)


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
        user = min(_computing(past), _computing(faster))
        long = _rest(past, one) - user
        short = _rest(faster, other) - user
        if 0 < short < long:
            yield short / long


def _rest(past: Past, speed: Speed) -> float:
    return past.duration - speed.of_job(past.read or 0, past.written or 0, 0)


def _computing(past: Past) -> float:
    """Return the seconds on the wall: user time counts for each core."""
    if not past.user or past.duration <= 0:
        return 0.0
    return past.user / max(1, math.ceil(past.user / past.duration))
