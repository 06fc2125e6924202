"""What flash copies that is full of workflows like a planned one: for `streams: auto`.

The trace has a bounded length whatever the size of the workflow, so that planning takes
no longer: equal pieces of its bytes stand for its files, and steps for its levels.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import exp
from random import Random
from statistics import fmean
from typing import NamedTuple

from pegasus_bb.decide.stream_choice import FileLife
from pegasus_bb_lab.flash.device import new_device
from pegasus_bb_lab.flash.geometry import Geometry

OFF = "off"
USER = "user"
WORKFLOW = "workflow"
COHORT = "cohort"
LIFETIME = "lifetime"
STREAMS = 4  # that the kernel has
# of a workflow
_PIECES = 192
_STEPS = 32
# at a time; then of each, one after the other
_WORKFLOWS = 16
_USERS = 4
_RUNS = 6
_WARM = 0.5  # part of the writes that do not count
_SEEDS = 2
_BLOCK = 8  # pieces
_FULL = 0.92  # of what the host sees
_FLASH = 1024 * 2**30 / 960e9  # what a usual drive has, to what the host sees


class Trace(NamedTuple):
    """As `kernel.Kernel.replay` takes it, and of each file who writes it."""

    events: array[int]
    peak: int  # the most live pieces
    slots: list[int]  # which of the workflows
    lives: list[FileLife]


@dataclass(frozen=True)
class PlannedLoad:
    """``lives``: at most so many as there are pieces, each of one piece or more.
    ``ends``: of each step, when it ends, in any unit. ``error``: sigma of ln(seconds),
    by which a step takes longer or shorter in each run."""

    lives: Sequence[FileLife]
    ends: Sequence[float]
    error: float

    def wafs(self) -> dict[str, float]:
        """Write amplification by policy, the mean of a few seeds."""
        found: dict[str, list[float]] = {}
        for seed in range(_SEEDS):
            random = Random(f"streams {seed}")  # noqa: S311 - no secret
            trace = self._trace(random)
            offsets = [random.randrange(STREAMS) for _ in range(_WORKFLOWS)]
            for policy, stream in _policies(offsets).items():
                found.setdefault(policy, []).append(_waf(trace, stream))
        return {policy: fmean(each) for policy, each in found.items()}

    def _trace(self, random: Random) -> Trace:
        changes: list[tuple[float, bool, int]] = []  # when, whether it is the end, file
        slots: list[int] = []
        for slot in range(_WORKFLOWS):
            now = -random.random() * self.ends[-1]  # they are not in step
            for _ in range(_RUNS):
                steps = self._steps(now, random)
                for life in self.lives:
                    changes += _of_file(life, steps, len(slots), random)
                    slots.append(slot)
                now = steps[-1]
        changes.sort()
        events = array(
            "i", (-file - 1 if is_end else file for _, is_end, file in changes)
        )
        runs = _WORKFLOWS * _RUNS
        return Trace(events, _peak(self.lives, events), slots, [*self.lives] * runs)

    def _steps(self, begun: float, random: Random) -> list[float]:
        """When the run that begins at ``begun`` begins its steps, and ends."""
        takes = (after - before for before, after in pairwise([0.0, *self.ends]))
        varied = (each * exp(self.error * random.gauss(0, 1)) for each in takes)
        return list(accumulate(varied, initial=begun))


def write_amplification(
    files: Sequence[FileLife], ends: Sequence[float], error: float
) -> dict[str, float]:
    """What flash writes per byte of the host, by policy; empty where no file has a
    byte. The entry point ``pegasus_bb.streams: auto``."""
    load = planned_load(files, ends, error)
    return load.wafs() if load else {}


def planned_load(
    files: Sequence[FileLife], ends: Sequence[float], error: float
) -> PlannedLoad | None:
    """Of a workflow with these files. ``ends``: when each level ends. None where no
    file has a byte."""
    total = sum(file.size for file in files)
    if not total:
        return None
    ends = list(accumulate(ends, max))
    steps = min(_STEPS, len(ends))
    borders = [ends[len(ends) * (step + 1) // steps - 1] for step in range(steps)]
    least = (borders[-1] or 1.0) / 1e6  # no two borders are one
    borders = [border + least * place for place, border in enumerate(borders, start=1)]

    def step(level: int) -> int:
        return (level - 1) * steps // len(ends) + 1

    lives: list[FileLife] = []
    done = 0
    pieces = 0
    for file in files:
        done += file.size
        more = _PIECES * done // total - pieces
        if more:
            pieces += more
            lives.append(FileLife(more, step(file.first), step(file.last), file.word))
    return PlannedLoad(lives, borders, error)


def _of_file(
    life: FileLife, steps: Sequence[float], file: int, random: Random
) -> Iterator[tuple[float, bool, int]]:
    """Its pieces are written during its first step; its last reader ends during the
    last step of its life. What lives to the end of the run dies with it."""
    begin = steps[life.first - 1]
    end = steps[life.first]
    for _ in range(life.size):
        yield begin + random.random() * (end - begin), False, file
    last = steps[life.last - 1]
    dies = steps[life.last]
    if life.first < life.last < len(steps) - 1:
        dies = last + random.random() * (dies - last)
    yield dies, True, file


def _peak(lives: Sequence[FileLife], events: array[int]) -> int:
    live = most = 0
    for event in events:
        live += 1 if event >= 0 else -lives[(-event - 1) % len(lives)].size
        most = max(most, live)
    return most


Stream = Callable[[int, FileLife], int]  # slot, file


def _policies(offsets: Sequence[int]) -> dict[str, Stream]:
    """As decide/stream_choice.py gives them; ``offsets`` stand for what a name of a
    workflow comes to."""
    return {
        OFF: lambda slot, life: 0,
        USER: lambda slot, life: slot % _USERS % STREAMS,
        WORKFLOW: lambda slot, life: offsets[slot],
        COHORT: lambda slot, life: (offsets[slot] + life.last) % STREAMS,
        LIFETIME: lambda slot, life: life.word,
    }


def _waf(trace: Trace, stream: Stream) -> float:
    logical = round(trace.peak / _FULL)
    geometry = Geometry(
        -(-round(logical * _FLASH) // _BLOCK), _BLOCK, logical, STREAMS, True
    )
    device = new_device(geometry, len(trace.lives))
    streams = bytes(map(stream, trace.slots, trace.lives))
    warm = int(_WARM * len(trace.events))
    device.replay(trace.events[:warm], streams, 1)
    before = device.counters()
    device.replay(trace.events[warm:], streams, 1)
    after = device.counters()
    host, nand = (
        sum(after_) - sum(before_)
        for after_, before_ in zip(after[2:], before[2:], strict=True)
    )
    return nand / host
