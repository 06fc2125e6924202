"""A placement with what deciding found out on the way: `explain` tells it a person."""

from __future__ import annotations

from dataclasses import dataclass

from pegasus_bb.model.placement import Placement


@dataclass(frozen=True, slots=True)
class MovedFiles:
    """Files that went to the PFS because the capacity is short."""

    lfns: tuple[str, ...]
    benefit: int  # bytes that tasks read and write of the files that could have moved


@dataclass(frozen=True, slots=True)
class Selection:
    """Mode hybrid: why so many jobs have a reservation. Bytes that are reserved, times
    how long, by the rule of docs/placement.md."""

    unit: str  # seconds; levels if no run time is known
    span: float  # in units: how long the shared reservation is needed at least
    persistent: float  # what mode persistent would reserve
    shared: float  # of the shared reservation
    job_reservations: float  # of all of them together
    asked: int  # jobs that could have one
    why_none: str = ""  # why no job could


@dataclass(frozen=True)
class PlacementDecision:
    """A placement, and how it came about."""

    placement: Placement
    pinned: frozenset[str] = frozenset()  # LFNs on the tier by more than its own rules
    for_jobs: frozenset[str] = frozenset()  # LFNs that the user wants on ``job_tier``
    moved: MovedFiles | None = None
    selection: Selection | None = None  # mode hybrid
    persistent: PlacementDecision | None = None  # mode hybrid: what it started from
