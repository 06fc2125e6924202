"""What a level of the workflow takes: of its jobs, the slots and the storage.

It lasts as long as the longest of three: its longest job; all its jobs in the slots;
all its bytes at the speed of the place where they are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from pegasus_bb.model.placement import PlannedPhases
from pegasus_bb.model.speeds import Speed, Speeds
from pegasus_bb.prediction.load import Load


class Level:
    __slots__ = ("longest", "moved", "total")

    def __init__(self, places: int) -> None:
        self.longest = self.total = 0.0  # seconds of one job, of all jobs
        self.moved = [[0, 0] for _ in range(places)]  # bytes read and written, by place

    def add(self, seconds: float) -> None:
        self.total += seconds
        if seconds > self.longest:
            self.longest = seconds


class JobTimes:
    """How long a job takes if it is alone on the places of its files."""

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


class Levels:
    def __init__(self, slots: int, places: Sequence[Speed]) -> None:
        self._slots, self._places = slots, places
        self._levels: dict[int, Level] = {}

    def of(self, load: Load) -> Level:
        level = self._levels.get(load.level)
        if level is None:
            level = self._levels[load.level] = Level(len(self._places))
        return level

    def seconds(self) -> dict[int, float]:
        return {number: self._lasts(level) for number, level in self._levels.items()}

    def _lasts(self, level: Level) -> float:
        places = zip(self._places, level.moved, strict=True)
        moving = (place.of_all(*moved) for place, moved in places)
        return max(level.longest, level.total / self._slots, *moving)


def in_phases(levels: Mapping[int, float], phases: PlannedPhases | None) -> float:
    """The longest levels of all phases, which follow each other; 0 if there is one."""
    if phases is None or phases.count == 1:
        return 0.0
    longest = [0.0] * phases.count
    for level, seconds in levels.items():
        phase = bisect_left(phases.ends, level)
        longest[phase] = max(longest[phase], seconds)
    return sum(longest)
