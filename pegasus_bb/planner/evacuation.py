"""What a job with a reservation saves when it fails or is killed: for bb/nodes."""

from __future__ import annotations

from typing import Any

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.placement import JobReservation, Placement


def evacuation_of(
    given: PlanningInput, placement: Placement, own: JobReservation
) -> dict[str, Any]:
    """The keys of a job reservation that say what is saved; none if nothing is, or if
    Slurm makes and empties it."""
    settings = given.settings
    if placement.job_tier.is_staged or not (own.checkpoints or settings.keeps_failed):
        return {}
    said: dict[str, Any] = {"within": settings.evacuate_within}
    if own.checkpoints:
        said["every"] = settings.evacuate_every
    if settings.keeps_failed:
        said["keep"] = True
    files = {"checkpoints": own.checkpoints} if own.checkpoints else {}
    return {**files, "evacuation": said}
