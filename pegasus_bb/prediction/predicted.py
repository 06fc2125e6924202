"""All that was predicted of one planning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pegasus_bb.prediction.choice import Choice
from pegasus_bb.prediction.cost import Prediction


@dataclass(frozen=True)
class Predicted:
    """Every mode that could be planned, and what the figures come from."""

    modes: tuple[Prediction, ...]
    choice: Choice
    no_transient: str  # why that mode cannot be chosen; empty where it can
    speeds: str  # who says them
    history: str  # whose run times, empty where nobody's
    unknown_sizes: tuple[str, ...]  # LFNs that count as empty
    unknown_times: int  # jobs that count as if they did not compute

    def of(self, mode: str) -> Prediction | None:
        """What ``mode`` would take."""
        return next((found for found in self.modes if found.mode == mode), None)

    def to_json(self) -> dict[str, Any]:
        """Plain values: seconds, and byte-hours that are reserved."""
        return {
            "modes": [found.to_json() for found in self.modes],
            "choice": self.choice.mode,
            "reason": self.choice.reason,
            "no_transient": self.no_transient,
            "speeds": self.speeds,
            "history": self.history,
            "unknown_sizes": list(self.unknown_sizes),
            "unknown_times": self.unknown_times,
        }
