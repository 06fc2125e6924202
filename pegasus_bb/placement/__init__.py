"""Decide which file lives on which tier: model -> Placement."""

from pegasus_bb.placement.decision import Ending, PlacementDecision, PlanningInput
from pegasus_bb.placement.explain import Explanation, explain
from pegasus_bb.placement.hybrid_mode import apply_hybrid_mode
from pegasus_bb.placement.job_reservations import (
    capacity_maker,
    join_job_reservations,
    planned_job_reservations,
)
from pegasus_bb.placement.lint import lint_replicas, lint_tier
from pegasus_bb.placement.liveness import live_flow, planned_peak
from pegasus_bb.placement.place_files import place_by_rules, place_files, reserve
from pegasus_bb.placement.sizing import automatic_capacity, wanted_capacity
from pegasus_bb.placement.survey import staged_executables, staged_name

__all__ = [
    "Ending",
    "Explanation",
    "PlacementDecision",
    "PlanningInput",
    "apply_hybrid_mode",
    "automatic_capacity",
    "capacity_maker",
    "explain",
    "join_job_reservations",
    "lint_replicas",
    "lint_tier",
    "live_flow",
    "place_by_rules",
    "place_files",
    "planned_job_reservations",
    "planned_peak",
    "reserve",
    "staged_executables",
    "staged_name",
    "wanted_capacity",
]
