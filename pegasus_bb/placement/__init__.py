"""Decide which file lives on which tier: model -> Placement."""

from pegasus_bb.placement.clusters import join_rooms, planned_rooms
from pegasus_bb.placement.decide import decide, place, place_files, reserve
from pegasus_bb.placement.executables import staged_executables, staged_name
from pegasus_bb.placement.explain import Explanation, explain
from pegasus_bb.placement.hybrid import part
from pegasus_bb.placement.lint import lint_replicas, lint_tier
from pegasus_bb.placement.liveness import Ending, Figures, figures
from pegasus_bb.placement.rooms import capacity_maker, reserve_rooms
from pegasus_bb.placement.sizing import automatic_capacity, wanted_capacity

__all__ = [
    "Ending",
    "Explanation",
    "Figures",
    "automatic_capacity",
    "capacity_maker",
    "decide",
    "explain",
    "figures",
    "join_rooms",
    "lint_replicas",
    "lint_tier",
    "part",
    "place",
    "place_files",
    "planned_rooms",
    "reserve",
    "reserve_rooms",
    "staged_executables",
    "staged_name",
    "wanted_capacity",
]
