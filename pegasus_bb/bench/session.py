"""A whole benchmark: its plan, its tiers, and what has been measured so far."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from pegasus_bb.bench.choice import choose
from pegasus_bb.bench.engine import Engine
from pegasus_bb.bench.measurement import Measurement
from pegasus_bb.bench.place import Place, check_room, temporary_folder
from pegasus_bb.bench.plan import Plan
from pegasus_bb.bench.rounds import Rounds, Tell
from pegasus_bb.errors import NotMeasured
from pegasus_bb.model.stat import Stat, stat

_FILES = 64  # opened in each repetition
_OPENINGS = 5  # repetitions


@dataclass(slots=True)
class Tier:
    """A tier that is measured."""

    place: Place
    openings: list[float] = field(default_factory=list)  # seconds of one open
    measurements: list[Measurement] = field(default_factory=list)

    @property
    def latency(self) -> Stat | None:
        """Seconds of one open; None if it was not measured."""
        return stat(self.openings)

    def measured(self) -> list[Measurement]:
        """The measurements with at least one repetition."""
        return [one for one in self.measurements if one.writes]


class Session:
    """Keeps what was measured even if ``run`` is interrupted."""

    def __init__(self, places: Sequence[Place], plan: Plan, until: float) -> None:
        """Raises UsageError if a tier has no room for ``plan``."""
        for place in places:
            check_room(place, plan)
        self.tiers = [Tier(place) for place in places]
        self.plan = plan
        self.until = until  # time.monotonic(): begin nothing that would end later
        self.engine: Engine | None = None

    def run(self, tell: Tell) -> None:
        """Measure, and remove everything that was written. Raises NotMeasured."""
        with ExitStack() as stack:
            folders: dict[str, str] = {}
            for tier in self.tiers:
                folder = stack.enter_context(temporary_folder(tier.place))
                folders[tier.place.name] = folder
                tier.openings = _openings(tier, folder)
            first, processes = next(iter(folders.values())), max(self.plan.processes)
            self.engine = choose(processes, first, self.until)
            stack.callback(self.engine.close)  # before the folders go
            rounds = Rounds(self.engine, folders, self.until, tell)
            rounds.run(list(self._measurements()))

    def _measurements(self) -> Iterator[Measurement]:
        """Tiers take turns."""
        for cell in self.plan.cells():
            for tier in self.tiers:
                tier.measurements.append(Measurement(tier.place, cell))
                yield tier.measurements[-1]


def _openings(tier: Tier, folder: str) -> list[float]:
    try:
        return [opening(folder) for _ in range(_OPENINGS)]
    except OSError as error:
        raise NotMeasured(f"tier {tier.place.name}: {error}") from error


def opening(folder: str) -> float:
    """Mean seconds of an open: half of them create a file, half open it again.

    Raises OSError.
    """
    paths = [os.path.join(folder, f"open.{number}") for number in range(_FILES)]
    try:
        begun = time.perf_counter()
        for flags in (os.O_WRONLY | os.O_CREAT, os.O_RDONLY):
            for path in paths:
                os.close(os.open(path, flags, 0o600))
        return (time.perf_counter() - begun) / (2 * _FILES)
    finally:
        for path in paths:
            if os.path.lexists(path):
                os.unlink(path)
