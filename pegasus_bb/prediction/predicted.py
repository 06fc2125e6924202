"""All that was predicted of one planning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegasus_bb.prediction.choice import Choice
from pegasus_bb.prediction.cost import Prediction


@dataclass(frozen=True)
class Predicted:
    """Modes, and what their figures come from."""

    modes: tuple[Prediction, ...]
    speeds: str  # who says them
    history: str  # whose run times, empty where nobody's
    unknown_sizes: tuple[str, ...]  # LFNs that count as empty
    unknown_times: int  # jobs that count as if they did not compute

    def to_json(self) -> dict[str, Any]:
        """Plain values: seconds, and byte-hours that are reserved."""
        return {
            "modes": [found.to_json() for found in self.modes],
            "speeds": self.speeds,
            "history": self.history,
            "unknown_sizes": list(self.unknown_sizes),
            "unknown_times": self.unknown_times,
        }


@dataclass(frozen=True)
class Compared(Predicted):
    """Every mode there is, and the one to take."""

    choice: Choice
    refused: Mapping[str, str]  # mode -> why the workflow cannot be planned in it

    def to_json(self) -> dict[str, Any]:
        """The same, with the choice."""
        chosen = {"choice": self.choice.mode, "reason": self.choice.reason}
        return {**super().to_json(), **chosen, "refused": dict(self.refused)}
