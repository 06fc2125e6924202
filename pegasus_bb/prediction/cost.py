"""What a run would take in each mode, level by level.

Levels of the workflow follow each other, data comes in before the first and goes out
after the last: jobs of several levels side by side, and queueing, are not in it. Linear
in the workflow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from pegasus_bb.model.placement import PFS, Placement
from pegasus_bb.model.speeds import Speeds
from pegasus_bb.prediction.copying import copy_time, one_copy, sizes_on_tier, staged
from pegasus_bb.prediction.levels import (
    Alone,
    Levels,
    in_phases,
    level_times,
    places_of,
)
from pegasus_bb.prediction.load import Workload

SHARED = ("persistent", "hybrid")  # modes with a reservation for all jobs, and a gate


@dataclass(frozen=True, slots=True)
class Prediction:
    """One mode. Seconds; byte-hours that are reserved."""

    mode: str
    stage_in: float
    compute: float  # the levels, input and output of the tasks included
    stage_out: float
    byte_hours: float
    other: float = 0.0  # what an earlier run took beyond the model: see corrected
    wait: float = 0.0  # for the reservation, as long as in an earlier run
    least: float = 0.0  # of compute, wherever levels run side by side: phases do not

    @property
    def makespan(self) -> float:
        """Seconds from start to end, the wait for the reservation included."""
        return self.wait + self.moving

    @property
    def moving(self) -> float:
        """Seconds without the wait: for so long a reservation is kept."""
        return self.stage_in + self.compute + self.stage_out + self.other

    def to_json(self) -> dict[str, Any]:
        """Plain values, with the makespan."""
        return {**asdict(self), "makespan": self.makespan}


def predict_off(work: Workload, placement: Placement, speeds: Speeds) -> Prediction:
    """All files on the PFS; inputs are copied to the scratch there, results from it."""
    into, out = staged(work, placement, lambda lfn: True)
    on_pfs = dict.fromkeys(placement.files, PFS)
    return Prediction(
        mode="off",
        stage_in=copy_time(into, speeds.pfs, speeds.pfs),
        compute=sum(level_times(work.loads, speeds, on_pfs).values()),
        stage_out=copy_time(out, speeds.pfs, speeds.pfs),
        byte_hours=0.0,
    )


def predict_persistent(
    work: Workload, placement: Placement, speeds: Speeds
) -> Prediction:
    """Files where ``placement`` has them, in one reservation of its capacity."""
    return predict_shared(work, placement, speeds, "persistent")


def predict_hybrid(work: Workload, placement: Placement, speeds: Speeds) -> Prediction:
    """The same, and rooms beside it: each lasts until what was made there is copied."""
    return predict_shared(work, placement, speeds, "hybrid")


def predict_shared(
    work: Workload, placement: Placement, speeds: Speeds, mode: str
) -> Prediction:
    """A run with one reservation for all jobs together."""
    pfs, tier = speeds.pfs, speeds.places[placement.tier.name]
    levels, in_rooms = _levels_shared(work, placement, speeds)
    into, out = staged(work, placement, placement.on_tier)
    to_pfs, from_pfs = staged(work, placement, lambda lfn: not placement.on_tier(lfn))
    found = Prediction(
        mode=mode,
        stage_in=copy_time(into, pfs, tier) + copy_time(to_pfs, pfs, pfs),
        compute=sum(levels.values()),
        stage_out=copy_time(out, tier, pfs) + copy_time(from_pfs, pfs, pfs),
        byte_hours=0.0,
        least=in_phases(levels, placement.phases),
    )
    hours = (placement.capacity * found.makespan + in_rooms) / 3600
    return replace(found, byte_hours=hours)


def _levels_shared(
    work: Workload, placement: Placement, speeds: Speeds
) -> tuple[dict[int, float], float]:
    """Seconds of each level, and the bytes x seconds that rooms reserve."""
    tier, where = placement.tier.name, places_of(placement)
    if not placement.job_reservations:
        return level_times(work.loads, speeds, where), 0.0
    rooms = placement.job_tier
    own_speed = rooms.name if rooms.name in speeds.places else tier
    for room in placement.job_reservations.values():
        where.update(dict.fromkeys(room.stage_out, own_speed))  # while its job runs
    alone = Alone(speeds, where)
    levels, reserved = Levels(speeds.slots, alone.places), 0.0
    fast, pfs = speeds.places[own_speed], list(speeds.places).index(PFS)
    for load in work.loads:
        level, own = levels.of(load), placement.job_reservations.get(load.job)
        seconds = alone.seconds(load, level.moved)
        if own is not None:
            back = [work.sizes.get(lfn, 0) for lfn in own.stage_out]
            shared = [work.sizes.get(lfn, 0) for lfn in own.share]
            seconds += one_copy(back, fast, speeds.pfs)
            seconds += one_copy(shared, fast, speeds.places[tier])
            level.moved[pfs][1] += sum(back)
            reserved += seconds * own.capacity * rooms.is_reserved
        level.add(seconds)
    return levels.seconds(), reserved


def predict_transient(
    work: Workload,
    placement: Placement,
    speeds: Speeds,
    capacity: Callable[[int], int],
) -> Prediction:
    """Each job has a reservation of its own: its files come in before it starts, and go
    out before a child may start. ``capacity`` is what a job reserves for its bytes."""
    tier = speeds.places[placement.tier.name]
    alone, here = Alone(speeds, places_of(placement)), sizes_on_tier(work, placement)
    levels = Levels(speeds.slots, [speeds.pfs])
    reserved = 0.0
    for load in work.loads:
        into = [here[lfn] for lfn, _ in load.reads if lfn in here]
        out = [here[lfn] for lfn, _ in load.writes if lfn in here]
        level, seconds = levels.of(load), alone.seconds(load)
        if into or out:
            seconds += one_copy(into, speeds.pfs, tier)
            seconds += one_copy(out, tier, speeds.pfs)
            came, went = sum(into), sum(out)
            level.moved[0][0] += came
            level.moved[0][1] += went
            if placement.tier.is_reserved:
                reserved += seconds * capacity(came + went)
        level.add(seconds)
    into_all, out_all = staged(work, placement, lambda lfn: True)
    return Prediction(
        "transient",
        copy_time(into_all, speeds.pfs, speeds.pfs),
        sum(levels.seconds().values()),
        copy_time(out_all, speeds.pfs, speeds.pfs),
        reserved / 3600,
    )


def corrected(found: Prediction, foretold: float, measured: float | None) -> Prediction:
    """``found``, where the model foretells ``foretold`` seconds of an earlier run that
    took ``measured``.

    What it took longer, to start jobs and to wait in queues, is the same in all modes.
    Where it was faster, levels ran side by side, as they will again, but for those of
    different phases.
    """
    if measured is None or foretold <= 0:
        return found
    share = min(1.0, measured / foretold)
    changed = replace(
        found,
        stage_in=found.stage_in * share,
        compute=max(found.compute * share, found.least),
        stage_out=found.stage_out * share,
        other=max(0.0, measured - foretold),
    )
    if found.mode in SHARED and found.moving:  # as long as the run
        hours = found.byte_hours * changed.moving / found.moving
        return replace(changed, byte_hours=hours)
    return changed


def awaited(found: Prediction, wait: float | None) -> Prediction:
    """``found`` after so many seconds at the gate, where its mode has one. Nothing is
    reserved then."""
    return found if found.mode not in SHARED else replace(found, wait=wait or 0.0)
