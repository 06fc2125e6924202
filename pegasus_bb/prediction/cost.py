"""What a run would take in each mode, level by level.

A level of the workflow lasts as long as the longest of three: its longest job; all its
jobs in the slots that there are; all its bytes at the speed of the place where they
lie. Levels follow each other, data comes in before the first and goes out after the
last: jobs of several levels side by side, and queueing, are not in it. Linear in the
workflow.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pegasus_bb.model.placement import PFS, Fit, Placement
from pegasus_bb.model.speeds import Speed, Speeds
from pegasus_bb.prediction.load import Load, Workload
from pegasus_bb.units import room_for


@dataclass(frozen=True, slots=True)
class Prediction:
    """One mode. Seconds; byte-hours that are reserved."""

    mode: str
    stage_in: float
    compute: float  # the levels, input and output of the tasks included
    stage_out: float
    byte_hours: float
    other: float = 0.0  # what an earlier run took beyond the model: see corrected
    least: float = 0.0  # of compute, wherever levels run side by side: phases do not

    @property
    def makespan(self) -> float:
        """Seconds from the first byte in to the last byte out."""
        return self.stage_in + self.compute + self.stage_out + self.other

    def to_json(self) -> dict[str, Any]:
        """Plain values, with the makespan."""
        return {**asdict(self), "makespan": self.makespan}


class _Level:
    """The jobs of one level, added up."""

    __slots__ = ("longest", "moved", "total")

    def __init__(self, places: int) -> None:
        self.longest = self.total = 0.0  # seconds of one job, of all jobs
        self.moved = [[0, 0] for _ in range(places)]  # bytes read and written, by place

    def add(self, seconds: float) -> None:
        self.total += seconds
        if seconds > self.longest:
            self.longest = seconds


def predict_off(work: Workload, placement: Placement, speeds: Speeds) -> Prediction:
    """All files on the PFS; inputs are copied to the scratch there, results from it."""
    into, out = _staged(work, placement, lambda lfn: True)
    on_pfs = dict.fromkeys(placement.files, PFS)
    return Prediction(
        mode="off",
        stage_in=_copy(into, speeds.pfs, speeds.pfs),
        compute=sum(_levels(work.loads, speeds, on_pfs).values()),
        stage_out=_copy(out, speeds.pfs, speeds.pfs),
        byte_hours=0.0,
    )


def predict_persistent(
    work: Workload, placement: Placement, speeds: Speeds
) -> Prediction:
    """Files where ``placement`` has them, in one reservation of its capacity."""
    tier = speeds.places[placement.tier.name]
    levels = _levels(work.loads, speeds, _tiers(placement))
    into, out = _staged(work, placement, placement.on_tier)
    to_pfs, from_pfs = _staged(work, placement, lambda lfn: not placement.on_tier(lfn))
    found = Prediction(
        mode="persistent",
        stage_in=_copy(into, speeds.pfs, tier) + _copy(to_pfs, speeds.pfs, speeds.pfs),
        compute=sum(levels.values()),
        stage_out=_copy(out, tier, speeds.pfs)
        + _copy(from_pfs, speeds.pfs, speeds.pfs),
        byte_hours=0.0,
        least=_in_phases(levels, placement.fit),
    )
    return replace(found, byte_hours=placement.capacity * found.makespan / 3600)


def predict_transient(
    work: Workload, placement: Placement, speeds: Speeds, headroom: int
) -> Prediction:
    """Each job has a reservation of its own: its files come in before it starts, and go
    out before a child may start. ``headroom`` is per cent of each."""
    tier, granularity = speeds.places[placement.tier.name], placement.tier.granularity
    alone = _Alone(speeds, _tiers(placement))
    levels: dict[int, _Level] = {}
    reserved = 0.0
    for load in work.loads:
        into = _on_tier(load.reads, placement, work)
        out = _on_tier(load.writes, placement, work)
        level = levels.get(load.level) or levels.setdefault(load.level, _Level(1))
        seconds = alone.seconds(load)
        if into or out:
            seconds += _one_copy(into, speeds.pfs, tier)
            seconds += _one_copy(out, tier, speeds.pfs)
            room = sum(into) + sum(out)
            level.moved[0][0] += sum(into)
            level.moved[0][1] += sum(out)
            reserved += seconds * room_for(room, headroom, granularity)
        level.add(seconds)
    ends = (_lasts(level, speeds.slots, [speeds.pfs]) for level in levels.values())
    into_all, out_all = _staged(work, placement, lambda lfn: True)
    return Prediction(
        "transient",
        _copy(into_all, speeds.pfs, speeds.pfs),
        sum(ends),
        _copy(out_all, speeds.pfs, speeds.pfs),
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
    if found.mode == "persistent" and found.makespan:  # it lives as long as the run
        hours = found.byte_hours * changed.makespan / found.makespan
        return replace(changed, byte_hours=hours)
    return changed


class _Alone:
    """Seconds of one job, alone on the places of its files; ``moved``, where given,
    counts its bytes by place."""

    def __init__(self, speeds: Speeds, where: Mapping[str, str]) -> None:
        names = list(speeds.places)
        self.places = list(speeds.places.values())
        self._at = {lfn: names.index(place) for lfn, place in where.items()}

    def seconds(self, load: Load, moved: list[list[int]] | None = None) -> float:
        seconds, places, at = load.compute, self.places, self._at
        for lfn, size in load.reads:
            place = places[at[lfn]]
            seconds += size / place.job_read + place.latency
            if moved is not None:
                moved[at[lfn]][0] += size
        for lfn, size in load.writes:
            place = places[at[lfn]]
            seconds += size / place.job_write + place.latency
            if moved is not None:
                moved[at[lfn]][1] += size
        return seconds


def _levels(
    loads: Iterable[Load], speeds: Speeds, where: Mapping[str, str]
) -> dict[int, float]:
    """Seconds of each level."""
    alone = _Alone(speeds, where)
    levels: dict[int, _Level] = {}
    for load in loads:
        level = levels.get(load.level)
        if level is None:
            level = levels[load.level] = _Level(len(alone.places))
        level.add(alone.seconds(load, level.moved))
    return {n: _lasts(own, speeds.slots, alone.places) for n, own in levels.items()}


def _in_phases(levels: Mapping[int, float], fit: Fit | None) -> float:
    """The longest levels of all phases, which follow each other; 0 where all is one."""
    if fit is None or fit.phases == 1:
        return 0.0
    longest = [0.0] * fit.phases
    for level, seconds in levels.items():
        phase = bisect_left(fit.ends, level)
        longest[phase] = max(longest[phase], seconds)
    return sum(longest)


def _lasts(level: _Level, slots: int, places: Sequence[Speed]) -> float:
    """Seconds of a level: the longest of what holds it up."""
    moving = (
        place.of_all(*moved) for place, moved in zip(places, level.moved, strict=True)
    )
    return max(level.longest, level.total / slots, *moving)


def _tiers(placement: Placement) -> dict[str, str]:
    return {lfn: file.tier for lfn, file in placement.files.items()}


def _staged(
    work: Workload, placement: Placement, of: Callable[[str], bool]
) -> tuple[list[int], list[int]]:
    """Sizes of the inputs that are copied in and of the results that are copied out."""
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


def _copy(sizes: list[int], source: Speed, dest: Speed) -> float:
    """Seconds for several files at a time."""
    size = sum(sizes)
    moving = max(size / source.read, size / dest.write)
    return moving + len(sizes) * (source.latency + dest.latency)


def _one_copy(sizes: list[int], source: Speed, dest: Speed) -> float:
    """Seconds for the files of one job, one after the other."""
    size = sum(sizes)
    moving = max(size / source.job_read, size / dest.job_write)
    return moving + len(sizes) * (source.latency + dest.latency)


def _on_tier(
    files: Iterable[tuple[str, int]], placement: Placement, work: Workload
) -> list[int]:
    return [work.sizes.get(lfn, 0) for lfn, _ in files if placement.on_tier(lfn)]
