"""What earlier runs of a task say of its demands; the best source comes first.

A task's run time on a place is its computing, its bytes at the place's bandwidth, and
its operations at the place's rate. The bytes are known. To tell computing from
operations, one of these serves, in this order:

1. runs on two places: computing and operations are fitted;
2. Darshan's counts of calls, or its seconds in calls that move no bytes, if more;
3. system calls that moved few bytes: at least so many operations, as far as kernel time
   allows; at most ten for each, or all but user time: other machines' work is waiting.
   A part of user time may be theirs too: calls empty the caches of a processor, and
   what follows them computes more slowly (Soares and Stumm 2010, "FlexSC").
   How many calls were small is not counted: surely those beyond one for each 8 KiB
   moved, at most those beyond one for each MiB. Bytes may cost more than their
   bandwidth says, as where a file system looks for blocks: at most an operation for
   each 8 KiB, as far as kernel time allows;
4. kernel time alone: none of it, or all of it, was operations;
5. run time alone: none of it, or half of it, was operations. Faster storage made tasks
   11 to 50 % shorter (Ferreira da Silva et al. 2019, Fig. 7 and Table 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from pegasus_bb.forecast.demands.demand import Demand, DemandRange, Moved
from pegasus_bb.model.history import Past
from pegasus_bb.model.speeds import Speed, Speeds


class RatePoint(NamedTuple):
    each: float  # seconds of one operation on the place
    seconds: float  # of the task, without its bytes
    whole: float  # and with them: its run time


def fit(points: Sequence[RatePoint]) -> Demand | None:
    """Fit the demand that misses the points least. None if they are of one rate, or no
    demand is finite."""
    count = len(points)
    mean_x = sum(p.each for p in points) / count
    mean_y = sum(p.seconds for p in points) / count
    spread = sum((p.each - mean_x) ** 2 for p in points)
    if not spread:
        return None
    both = sum((p.each - mean_x) * (p.seconds - mean_y) for p in points)
    operations = both / spread
    compute = mean_y - operations * mean_x
    if operations < 0:
        operations = 0.0
        compute = mean_y
    elif compute < 0:
        square = sum(p.each**2 for p in points)
        operations = sum(p.each * p.seconds for p in points) / square
        compute = 0.0
    finite = math.isfinite(operations) and math.isfinite(compute)
    return Demand(compute, operations) if finite else None


def misses_by(demand: Demand, points: Sequence[RatePoint]) -> float:
    """Return the largest error of a run time, as a part of it."""
    return max(
        abs(demand.compute + demand.operations * p.each - p.seconds)
        / max(p.whole, 1e-9)
        for p in points
    )


SMALL = 8192  # bytes; calls that move more than this are paid by their bytes
# Operations for each such call, at most: a small file is made, opened, asked for and
# closed twice, and removed.
_EACH = 10
# Of user time, at most, that a place with faster calls may save. Measured: a task of
# 1000genome with 9,370 calls, on ext4 and on tmpfs, in turn: 13 to 20 % less.
_SLOWED = 0.15
_LARGE = 1 << 20  # bytes of a call, at most: programs and libraries copy by as much
_UNCOUNTED = 0.5  # of a run time of which nothing was counted, at most operations
_ROUNDS = 20  # until the share of operations in a run time is settled
_PAIR = "runs on two places"
_NOT_FASTER = "run times differ between places, but not as the rates of calls do"
_AGREE = 0.05  # a fit that misses a run time by less explains it


class TaskMeasurement(NamedTuple):
    """One measurement of a task."""

    past: Past
    speed: Speed  # of the place where its files were
    moving: float  # seconds that its bytes take
    rest: float  # those of its run time that they do not take
    own_calls: float  # calls that surely moved few bytes each
    most_calls: float  # and those that may have
    pieces: float  # of 8 KiB, of all bytes that it moved
    cores: int  # that it may use

    def rate(self, seconds: float) -> float:
        """Return the operations a second that it had, if ``seconds`` of its run time
        were operations. Tasks beside it had their share of the place, for the same part
        of their time."""
        share = min(1.0, seconds / self.past.duration) if self.past.duration else 0.0
        others = ((self.past.concurrency or 1.0) - 1.0) * share
        return min(self.speed.job_ops, self.speed.ops / (1.0 + others))

    def split(self, seconds: float) -> Demand:
        """Return the demand of which ``seconds`` were operations here."""
        seconds = min(max(seconds, 0.0), self.rest)
        return Demand(self.rest - seconds, seconds * self.rate(seconds))

    def seconds_of(self, operations: float) -> float:
        """Return the seconds of so many operations here, at most ``rest``."""
        seconds = 0.0
        for _ in range(_ROUNDS):
            seconds = min(operations / self.rate(seconds), self.rest)
        return seconds

    @property
    def used_cores(self) -> int:
        """The fewest cores on which its processor time fits into its run time."""
        past = self.past
        used = (past.kernel or 0.0) + (past.user or 0.0)
        return max(1, math.ceil(used / past.duration)) if past.duration else 1

    @property
    def user(self) -> float:
        """Seconds on the wall that its user time took: it counts for each core."""
        return (self.past.user or 0.0) / self.used_cores

    @property
    def not_user(self) -> float:
        return max(0.0, self.rest - self.user)

    @property
    def most_not_user(self) -> float:
        """``not_user``, if all cores that it asks for computed at the same time."""
        spread = (self.past.user or 0.0) / max(self.cores, self.used_cores)
        return max(0.0, self.rest - spread)

    @property
    def kernel(self) -> float:
        """Seconds on the wall that its kernel time took: it counts for each core. Bytes
        that come through the page cache are moved by the kernel: they are not in it."""
        own = (self.past.kernel or 0.0) / self.used_cores - self.moving
        return min(max(own, 0.0), self.rest)


def demand_of(
    pasts: Sequence[tuple[str, Past]],
    moved: Moved,
    speeds: Speeds,
    cores: int = 1,
    nodes: int = 1,
) -> DemandRange:
    """Learn from measurements of one task, or of one kind of task, each with its place.

    A place without a speed counts as the PFS. If a rate of operations is unknown, all
    that bytes do not explain is computing. ``cores`` and ``nodes``: those that the task
    asks for.
    """
    seen = [
        _seen(past, speeds.places.get(place, speeds.pfs), moved, cores, nodes)
        for place, past in pasts
    ]
    rated = [one for one in seen if math.isfinite(one.speed.job_ops)]
    if not rated:
        note = (
            "no rate of calls (ops) is declared for the storage of the earlier run: a "
            "gain by faster calls is not seen"
        )
        whole = Demand(sum(one.rest for one in seen) / len(seen))
        return DemandRange(whole, whole, "run time", note)
    places = {one.speed for one in rated}
    if len(places) < 2:
        return _of_one_place(rated)
    return _of_places(rated)


def _seen(
    past: Past, speed: Speed, moved: Moved, cores: int, nodes: int
) -> TaskMeasurement:
    moving = speed.of_job(*moved, nodes)
    known = (past.read or 0) + (past.written or 0)
    size = max(moved.read + moved.written, known)
    calls = past.calls or 0
    return TaskMeasurement(
        past,
        speed,
        moving,
        max(0.0, past.duration - moving),
        max(0.0, calls - size / SMALL),
        max(0.0, calls - size / _LARGE),
        size / SMALL,
        cores,
    )


def _of_places(seen: Sequence[TaskMeasurement]) -> DemandRange:
    """Fit the run times over all places by least squares; neither part is below
    zero."""
    found = None
    each = [1 / one.rate(0.0) for one in seen]
    for _ in range(_ROUNDS):
        points = [
            RatePoint(x, one.rest, one.past.duration)
            for x, one in zip(each, seen, strict=True)
        ]
        found = fit(points)
        if found is None:
            break
        done = found.operations
        each = [1 / one.rate(done * x) for x, one in zip(each, seen, strict=True)]
    if found is None or not found.operations:
        rests = [one.rest for one in seen]
        ends = Demand(max(rests)), Demand(min(rests))
        note = "" if misses_by(Demand(rests[0]), points) <= _AGREE else _NOT_FASTER
        return DemandRange(*ends, _PAIR, note)
    off = misses_by(found, points)
    note = "" if off <= _AGREE else f"run times are missed by up to {off:.0%}"
    return DemandRange(found, found, _PAIR, note)


def _of_one_place(seen: Sequence[TaskMeasurement]) -> DemandRange:
    for source in (_darshan, _calls, _kernel):
        for one in seen:
            found = source(one)
            if found is not None:
                return found
    first = seen[0]
    most = min(_UNCOUNTED * first.past.duration, first.most_not_user)
    most_of_it = f"{_UNCOUNTED:.0%} of the time at most"
    note = f"no calls were counted: they are taken for {most_of_it}"
    least, most_calls = first.split(0.0), first.split(most)
    is_guess = least != most_calls
    return DemandRange(least, most_calls, "run time", note, is_guess)


def _darshan(seen: TaskMeasurement) -> DemandRange | None:
    past = seen.past
    if past.metadata is None or past.meta_time is None:
        return None
    counted = seen.seconds_of(past.metadata + seen.own_calls)
    found = seen.split(min(max(counted, past.meta_time), seen.not_user))
    return DemandRange(found, found, "Darshan")


def _calls(seen: TaskMeasurement) -> DemandRange | None:
    if seen.past.calls is None or seen.past.kernel is None:
        return None
    counted = seen.own_calls + (seen.past.metadata or 0)
    least = min(seen.seconds_of(counted), seen.kernel, seen.not_user)
    of_bytes = min(seen.seconds_of(_EACH * counted + seen.pieces), seen.kernel)
    most = max(seen.seconds_of(max(_EACH * counted, seen.most_calls)), of_bytes)
    slowed = min(_SLOWED * seen.user, most)
    most = min(most, seen.most_not_user + slowed)
    return DemandRange(seen.split(least), seen.split(most), "system calls")


def _kernel(seen: TaskMeasurement) -> DemandRange | None:
    if seen.past.kernel is None:
        return None
    return DemandRange(seen.split(0.0), seen.split(seen.kernel), "kernel time")
