"""The lifetime of each file as a share of the workflow, and its lifetime class."""

from __future__ import annotations

from collections.abc import Sequence

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.run_times import LevelClock
from pegasus_bb.model.placement import PlacedFile


class LifetimeShare:
    """The lifetime of a file as a share of the workflow, and its class by that."""

    def __init__(self, given: PlanningInput) -> None:
        self._levels = given.levels
        self._span = LevelClock.of(given).span

    def of(self, file: PlacedFile) -> float:
        """From 0, for a file that one level makes and uses, to 1. By seconds if run
        times are known, else by levels."""
        if self._span and file.seconds is not None:
            return file.seconds / self._span
        return (file.lifetime - 1) / self._levels

    def class_of(self, file: PlacedFile, classes: Sequence[str]) -> str:
        return classes[min(len(classes) - 1, int(self.of(file) * len(classes)))]

    def text(self, file: PlacedFile) -> str:
        if self._span and file.seconds is not None:
            return f"lives {file.seconds:.0f} of {self._span:.0f} s"
        return f"lives {file.lifetime} of {self._levels} levels"
