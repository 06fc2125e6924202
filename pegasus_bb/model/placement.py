"""Placement: which file lives on which tier and how it gets there.

The first narrow waist: rewriting, the runtime and explaining start from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pegasus_bb.model.tiers import Tier

PFS = "pfs"


@dataclass(frozen=True, slots=True)
class Placed:
    """One file's place."""

    lfn: str
    role: str  # input | intermediate | output
    tier: str  # the tier's name, or "pfs"
    how: str  # copy (staged in) | link (to the PFS) | write (a task makes it)
    size: int | None  # bytes; None where nobody knows
    reason: str  # for a person: which rule decided, and where it was said


@dataclass(frozen=True)
class Placement:
    """Every file's place, and the room that the tier needs for them."""

    tier: Tier
    files: dict[str, Placed]  # by LFN, in the order of the workflow
    need: int  # bytes of all files on the tier whose size is known
    unknown: tuple[str, ...]  # LFNs on the tier whose size nobody knows
    capacity: int  # bytes to reserve, a multiple of the tier's granularity

    def on_tier(self, lfn: str) -> bool:
        """Whether the bytes of ``lfn`` lie on the tier."""
        return self.files[lfn].tier != PFS
