"""The modes of a run, and what each of them does. Code asks for what a mode does, not
for its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class RunMode:
    """A row of the table of modes."""

    name: str
    text: str  # for a person
    is_shared: bool = False  # one reservation for files that jobs share
    has_job_reservations: bool = False  # jobs have reservations of their own
    is_chosen: bool = False  # the forecast chooses one of the others

    def __str__(self) -> str:
        return self.name

    @property
    def uses_tier(self) -> bool:
        return self.is_shared or self.has_job_reservations or self.is_chosen

    @property
    def is_only_shared(self) -> bool:
        """Whether one reservation has all files of the tier until the run ends."""
        return self.is_shared and not self.has_job_reservations

    @property
    def is_only_for_jobs(self) -> bool:
        return self.has_job_reservations and not self.is_shared

    @property
    def is_both(self) -> bool:
        return self.is_shared and self.has_job_reservations

    @property
    def may_be_both(self) -> bool:
        """Whether job reservations may be on another tier than files that jobs
        share."""
        return self.is_both or self.is_chosen


OFF = RunMode("off", "the PFS alone")
PERSISTENT = RunMode("persistent", "one reservation", is_shared=True)
TRANSIENT = RunMode("transient", "one per job", has_job_reservations=True)
HYBRID = RunMode("hybrid", "both", is_shared=True, has_job_reservations=True)
AUTO = RunMode("auto", "what the simulation prefers", is_chosen=True)

PLANNED: Mapping[str, RunMode] = {
    mode.name: mode for mode in (OFF, PERSISTENT, TRANSIENT, HYBRID)
}
MODES: Mapping[str, RunMode] = {**PLANNED, AUTO.name: AUTO}


def recorded_mode(name: str) -> RunMode | None:
    """The mode that a run has recorded; None if it has recorded none that exists."""
    return PLANNED.get(name)
