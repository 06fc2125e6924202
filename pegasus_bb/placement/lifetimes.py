"""How large a part of the workflow each file lives, and its class of such lives."""

from __future__ import annotations

from collections.abc import Sequence

from pegasus_bb.model.placement import PlacedFile
from pegasus_bb.placement.decision import PlanningInput
from pegasus_bb.placement.run_times import LevelClock


class Share:
    """How large a part of the workflow a file lives, and the class that it has so."""

    def __init__(self, given: PlanningInput) -> None:
        self._levels = given.levels
        self._span = LevelClock.of(given).span

    def of(self, file: PlacedFile) -> float:
        """0 for a file that one level makes and uses, up to 1. In seconds if run times
        are known."""
        if self._span and file.seconds is not None:
            return file.seconds / self._span
        return (file.lifetime - 1) / self._levels

    def word(self, file: PlacedFile, words: Sequence[str]) -> str:
        return words[min(len(words) - 1, int(self.of(file) * len(words)))]

    def told(self, file: PlacedFile) -> str:
        if self._span and file.seconds is not None:
            return f"lives {file.seconds:.0f} of {self._span:.0f} s"
        return f"lives {file.lifetime} of {self._levels} levels"
