"""Placement: which file lives on which tier and how it gets there.

The first narrow waist: rewriting, the runtime and explaining start from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pegasus_bb.model.tiers import Tier

PFS = "pfs"


@dataclass(slots=True)  # a frozen one takes three times as long to make
class Placed:
    """One file's place; never changed."""

    lfn: str
    role: str  # input | intermediate | output
    tier: str  # the tier's name, or "pfs"
    how: str  # copy (staged in) | link (to the PFS) | write (a task makes it)
    size: int | None  # bytes; None where nobody knows
    reason: str  # for a person: which rule decided, and where it was said


@dataclass(slots=True)  # as above
class Room:
    """The reservation of one job's own, in modes transient and hybrid: LFNs, bytes.
    Never changed."""

    stage_in: tuple[str, ...]  # brought there before the job starts
    stage_out: tuple[str, ...]  # made there, and brought back to the PFS afterwards
    read: tuple[str, ...]  # live elsewhere: links there
    write: tuple[str, ...]  # live on the PFS, and the job makes them: links there
    need: int  # of all that is made or brought there, where the size is known
    capacity: int = 0  # to reserve, a multiple of the tier's granularity
    share: tuple[str, ...] = ()  # hybrid: made there, then copied to the shared one


@dataclass(frozen=True, slots=True)
class Fit:
    """How files that are too many for the capacity fit into it. Bytes."""

    limit: int  # that the tier may hold at any time
    ends: tuple[int, ...]  # the last level of each phase; one: whatever the order
    peak: int  # the most that is on the tier in any phase
    moved: tuple[str, ...] = ()  # LFNs that went to the PFS for want of room
    benefit: int = 0  # bytes that tasks read and write of files that could have moved

    @property
    def phases(self) -> int:
        """The jobs run in so many, one after the other."""
        return len(self.ends)


@dataclass(frozen=True, slots=True)
class Worth:
    """Mode hybrid: why so many jobs have a room. Bytes that are reserved, times how
    long, by the rule of docs/placement.md."""

    unit: str  # seconds; levels where nobody knows how long a task runs
    span: float  # in units: how long the shared reservation is needed at least
    persistent: float  # what mode persistent would reserve
    shared: float  # of the shared reservation
    rooms: float  # of all rooms
    asked: int  # jobs that could have a room
    why_none: str = ""  # why no job could


@dataclass(frozen=True)
class Placement:
    """Every file's place, and the room that the tier needs for them."""

    tier: Tier
    files: dict[str, Placed]  # by LFN, in the order of the workflow
    need: int  # bytes of all files on the tier whose size is known
    unknown: tuple[str, ...]  # LFNs on the tier whose size nobody knows
    capacity: int  # bytes to reserve, a multiple of the tier's granularity
    # By id of those jobs that have one. Mode transient: all that touch the tier, and
    # ``capacity`` is what the largest of them gets. Mode hybrid: beside ``capacity``.
    rooms: dict[str, Room] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()  # LFNs on the tier by more than its own rules
    fit: Fit | None = None  # where a capacity below ``need`` was asked for
    worth: Worth | None = None  # mode hybrid
    whole: Placement | None = None  # mode hybrid: as mode persistent would have it
    to_rooms: frozenset[str] = frozenset()  # LFNs that the user wants there
    apart: Tier | None = None  # mode hybrid: where rooms are, if not on ``tier``

    @property
    def room_tier(self) -> Tier:
        """Where the rooms of jobs are."""
        return self.apart or self.tier

    def on_tier(self, lfn: str) -> bool:
        """Whether the bytes of ``lfn`` lie on the tier."""
        return self.files[lfn].tier != PFS
