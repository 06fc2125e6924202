"""What a planning by the real pegasus-plan gives back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.planner.deciding import Decided
from pegasus_bb.planner.pegasus.reading import Found
from pegasus_bb.rewrite import Inputs


@dataclass(frozen=True)
class PegasusPlanned:
    """A submit directory of pegasus-plan's that is sealed, and all it was made from: a
    process that ends with it need not take millions of objects apart."""

    submit_dir: Path
    decided: Decided
    inputs: Inputs  # what pegasus-plan read
    found: Found
    said: bytes  # what pegasus-plan printed
    notes: tuple[str, ...]

    @property
    def planner(self) -> str:
        """pegasus-plan and its version."""
        return f"pegasus-plan {self.found.outcome.version}"

    @property
    def summary(self) -> tuple[str, ...]:
        """Mode, tier, capacity, and where each was said."""
        return self.decided.summary()
