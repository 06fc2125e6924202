"""Placement: which file lives on which tier and how it gets there.

Rewriting, the runtime and explain all start from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pegasus_bb.model.tiers import Tier

if TYPE_CHECKING:
    from pegasus_bb.model.pools import Pool

PFS = "pfs"
# Stream -> write hint of the kernel: RWH_WRITE_LIFE_SHORT and so on, linux/fcntl.h.
HINTS = {"short": 2, "medium": 3, "long": 4, "extreme": 5}


@dataclass(slots=True)  # a frozen one takes three times as long to make
class PlacedFile:
    """One file's place; never changed."""

    lfn: str
    role: str  # input | intermediate | output
    tier: str  # the tier's name, or "pfs"
    how: str  # copy (staged in) | link (to the PFS) | write (a task makes it)
    size: int | None  # bytes; None if unknown
    reason: str  # for a person: which rule decided, and where it is set
    lifetime: int = 0  # levels, from its maker or stage-in until it can be removed
    seconds: float | None = None  # the same; None if no run time is known
    cohort: int = 0  # the last level of its life; files of a cohort die together
    pool: str = ""  # of the tier; empty: the reservation's own folder
    stream: str = ""  # one of HINTS; empty: no hint

    def placed(self, tier: str, how: str, reason: str) -> PlacedFile:
        """The file in another place. Does the same as `replace`, three times as
        fast."""
        life = self.lifetime, self.seconds, self.cohort
        rest = *life, self.pool, self.stream
        return PlacedFile(self.lfn, self.role, tier, how, self.size, reason, *rest)


@dataclass(slots=True)  # as above
class JobReservation:
    """The reservation of a single job, in modes transient and hybrid: LFNs, bytes.
    Never changed."""

    stage_in: tuple[str, ...]  # copied in before the job starts
    stage_out: tuple[str, ...]  # made there, and copied back to the PFS afterwards
    read: tuple[str, ...]  # inputs that live elsewhere: links there
    write: tuple[str, ...]  # outputs that live on the PFS: links there
    need: int  # of all files that are made there or copied in, if the size is known
    capacity: int = 0  # to reserve, a multiple of the tier's granularity
    share: tuple[str, ...] = ()  # hybrid: made there, then copied to the shared one
    stay: tuple[str, ...] = ()  # of a cluster: made there, and read by no other job
    # Of ``stage_in``: links to files of a cache will do.
    cacheable: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()  # brought if there are some, and saved
    # Of ``stage_in``, in a shared folder: a job that runs later reads them as well.
    watched: tuple[str, ...] = ()

    @property
    def is_used(self) -> bool:
        """Whether any file lives there."""
        return bool(self.stage_in or self.stage_out or self.checkpoints)


@dataclass(frozen=True, slots=True)
class Chain:
    """Jobs that run one after the other in one job of the batch system."""

    jobs: tuple[str, ...]  # ids, in the order in which they run
    reservation: JobReservation
    stays: int  # bytes of the files that never leave its node


def chain_lengths(chains: Iterable[Chain]) -> tuple[int, ...]:
    """The jobs of each, the most first."""
    return tuple(sorted((len(chain.jobs) for chain in chains), reverse=True))


@dataclass(frozen=True, slots=True)
class PlannedPhases:
    """The phases in which the jobs run so that the files fit. Bytes."""

    limit: int  # that the tier may hold at any time
    ends: tuple[int, ...]  # the last level of each phase
    peak: int  # the most that is on the tier in any phase

    @property
    def count(self) -> int:
        """The number of phases; with one, the jobs run in any order."""
        return len(self.ends)


@dataclass(frozen=True)
class Placement:
    """Every file's place, and what is reserved for it."""

    tier: Tier
    files: dict[str, PlacedFile]  # by LFN, in the order of the workflow
    capacity: int = 0  # bytes to reserve, a multiple of the tier's granularity
    # By job id. Mode transient: of all jobs that use the tier; ``capacity`` is that of
    # the largest. Mode hybrid: of some jobs, on top of ``capacity``.
    job_reservations: dict[str, JobReservation] = field(default_factory=dict)
    phases: PlannedPhases | None = None  # if the files need more than the capacity
    other_tier: Tier | None = None  # hybrid: of job reservations, if it is not ``tier``

    @property
    def job_tier(self) -> Tier:
        return self.other_tier or self.tier

    def on_tier(self, lfn: str) -> bool:
        return self.files[lfn].tier != PFS

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """The pools of the tier that have files of this run."""
        used = {file.pool for file in self.files.values()}
        return tuple(pool for pool in self.tier.pools if pool.name in used)

    @cached_property
    def need(self) -> int:
        return sum(f.size or 0 for f in self.files.values() if f.tier != PFS)

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        files = self.files.values()
        return tuple(f.lfn for f in files if f.size is None and f.tier != PFS)
