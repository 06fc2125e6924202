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
from pegasus_bb.model.speeds import Speed, Speeds
from pegasus_bb.prediction.levels import JobTimes, Levels, in_phases
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
        return {**asdict(self), "makespan": self.makespan}


def predict_off(work: Workload, placement: Placement, speeds: Speeds) -> Prediction:
    """All files on the PFS; inputs are copied to the scratch there, results from it."""
    files = {lfn: replace(file, tier=PFS) for lfn, file in placement.files.items()}
    on_pfs = Placement(placement.tier, files)
    return predict_shared(work, on_pfs, speeds, "off")


def predict_shared(
    work: Workload, placement: Placement, speeds: Speeds, mode: str
) -> Prediction:
    """Files where ``placement`` has them, in one reservation of its capacity. In mode
    hybrid a job reservation lasts until its results are copied."""
    pfs, tier = speeds.pfs, speeds.places[placement.tier.name]
    levels, reserved = _levels(work, placement, speeds)
    into, out = _staged(work, placement, placement.on_tier)
    to_pfs, from_pfs = _staged(work, placement, lambda lfn: not placement.on_tier(lfn))
    found = Prediction(
        mode=mode,
        stage_in=_copy_time(into, pfs, tier) + _copy_time(to_pfs, pfs, pfs),
        compute=sum(levels.values()),
        stage_out=_copy_time(out, tier, pfs) + _copy_time(from_pfs, pfs, pfs),
        byte_hours=0.0,
        least=in_phases(levels, placement.phases),
    )
    hours = (placement.capacity * found.makespan + reserved) / 3600
    return replace(found, byte_hours=hours)


def _levels(
    work: Workload, placement: Placement, speeds: Speeds
) -> tuple[dict[int, float], float]:
    tier, job_tier = placement.tier.name, placement.job_tier
    own_place = job_tier.name if job_tier.name in speeds.places else tier
    where = {lfn: file.tier for lfn, file in placement.files.items()}
    for own in placement.job_reservations.values():
        where.update(dict.fromkeys(own.stage_out, own_place))  # while its job runs
    times = JobTimes(speeds, where)
    levels, reserved = Levels(speeds.slots, times.places), 0.0
    fast, pfs = speeds.places[own_place], list(speeds.places).index(PFS)
    for load in work.loads:
        level, found = levels.of(load), placement.job_reservations.get(load.job)
        seconds = times.seconds(load, level.moved)
        if found is not None:
            back = [work.sizes.get(lfn, 0) for lfn in found.stage_out]
            shared = [work.sizes.get(lfn, 0) for lfn in found.share]
            seconds += _copy_time_of_job(back, fast, speeds.pfs)
            seconds += _copy_time_of_job(shared, fast, speeds.places[tier])
            level.moved[pfs][1] += sum(back)
            reserved += seconds * found.capacity * job_tier.is_reserved
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
    where = {lfn: file.tier for lfn, file in placement.files.items()}
    here = {lfn: work.sizes.get(lfn, 0) for lfn in where if where[lfn] != PFS}
    times = JobTimes(speeds, where)
    levels = Levels(speeds.slots, [speeds.pfs])
    reserved = 0.0
    for load in work.loads:
        into = [here[lfn] for lfn, _ in load.reads if lfn in here]
        out = [here[lfn] for lfn, _ in load.writes if lfn in here]
        level, seconds = levels.of(load), times.seconds(load)
        if into or out:
            seconds += _copy_time_of_job(into, speeds.pfs, tier)
            seconds += _copy_time_of_job(out, tier, speeds.pfs)
            came, went = sum(into), sum(out)
            level.moved[0][0] += came
            level.moved[0][1] += went
            if placement.tier.is_reserved:
                reserved += seconds * capacity(came + went)
        level.add(seconds)
    into_all, out_all = _staged(work, placement, lambda lfn: True)
    return Prediction(
        "transient",
        _copy_time(into_all, speeds.pfs, speeds.pfs),
        sum(levels.seconds().values()),
        _copy_time(out_all, speeds.pfs, speeds.pfs),
        reserved / 3600,
    )


def corrected(
    found: Prediction, predicted: float, measured: float | None
) -> Prediction:
    """``found``, corrected by an earlier run, of which the model predicts ``predicted``
    seconds and which took ``measured``.

    What it took longer, to start jobs and to wait in queues, is the same in all modes.
    If it was faster, levels ran side by side, as they will again, but for those of
    different phases.
    """
    if measured is None or predicted <= 0:
        return found
    share = min(1.0, measured / predicted)
    changed = replace(
        found,
        stage_in=found.stage_in * share,
        compute=max(found.compute * share, found.least),
        stage_out=found.stage_out * share,
        other=max(0.0, measured - predicted),
    )
    if found.mode in SHARED and found.moving:  # as long as the run
        hours = found.byte_hours * changed.moving / found.moving
        return replace(changed, byte_hours=hours)
    return changed


def awaited(found: Prediction, wait: float | None) -> Prediction:
    """``found`` with so many seconds at the gate, if its mode has one. Nothing is
    reserved then."""
    return found if found.mode not in SHARED else replace(found, wait=wait or 0.0)


def _staged(
    work: Workload, placement: Placement, of: Callable[[str], bool]
) -> tuple[list[int], list[int]]:
    into: list[int] = []
    out: list[int] = []
    for lfn, file in placement.files.items():
        if not of(lfn):
            continue
        if file.how == "copy":
            into.append(work.sizes.get(lfn, 0))
        elif file.role == "output":
            out.append(work.sizes.get(lfn, 0))
    return into, out


def _copy_time(sizes: list[int], source: Speed, dest: Speed) -> float:
    size = sum(sizes)
    moving = max(size / source.read, size / dest.write)
    return moving + len(sizes) * (source.latency + dest.latency)


def _copy_time_of_job(sizes: list[int], source: Speed, dest: Speed) -> float:
    size = sum(sizes)
    moving = max(size / source.job_read, size / dest.job_write)
    return moving + len(sizes) * (source.latency + dest.latency)
