"""All that was predicted of one planning, and which mode to take: the shortest run; of
runs that take about as long, the one that reserves least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegasus_bb.prediction.cost import Prediction
from pegasus_bb.units import format_duration, format_size

ALIKE = 0.05  # of the shortest makespan: the model is no better than that


@dataclass(frozen=True)
class Choice:
    mode: str
    reason: str


def choose(predictions: Sequence[Prediction]) -> Choice:
    shortest = min(predictions, key=lambda p: p.makespan)
    alike = [p for p in predictions if p.makespan <= shortest.makespan * (1 + ALIKE)]
    chosen = min(alike, key=lambda p: (p.byte_hours, p.makespan))
    return Choice(chosen.mode, _reason(chosen, shortest, predictions))


def _reason(
    chosen: Prediction, shortest: Prediction, predictions: Sequence[Prediction]
) -> str:
    off = next((p for p in predictions if p.mode == "off"), None)
    took = format_duration(chosen.makespan)
    if chosen is not shortest:
        saved = format_size(int(shortest.byte_hours - chosen.byte_hours))
        return (
            f"{took} is within {ALIKE:.0%} of {shortest.mode} "
            f"({format_duration(shortest.makespan)}) and reserves {saved}-hours less"
        )
    if off is None or off is chosen or off.makespan == 0:
        return f"{took} is the shortest"
    less = 1 - chosen.makespan / off.makespan
    return f"{took} is the shortest, {less:.0%} less than on the PFS alone"


@dataclass(frozen=True)
class Predicted:
    """Modes, and what their figures come from."""

    modes: tuple[Prediction, ...]
    speeds: str  # where they are declared
    history: str  # of which run the times are; empty if of none
    unknown_sizes: tuple[str, ...]  # LFNs that count as empty
    unknown_times: int  # jobs that count as if they did not compute

    def to_json(self) -> dict[str, Any]:
        return {
            "modes": [found.to_json() for found in self.modes],
            "speeds": self.speeds,
            "history": self.history,
            "unknown_sizes": list(self.unknown_sizes),
            "unknown_times": self.unknown_times,
        }


@dataclass(frozen=True)
class Compared(Predicted):
    choice: Choice
    refused: Mapping[str, str]  # mode -> why the workflow cannot be planned in it

    def to_json(self) -> dict[str, Any]:
        chosen = {"choice": self.choice.mode, "reason": self.choice.reason}
        return {**super().to_json(), **chosen, "refused": dict(self.refused)}
