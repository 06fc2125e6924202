"""The sites that a testbed can be: a Slurm, and the Debian that has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pegasus_bb.errors import UsageError

_SLURM = ("slurm-wlm", "munge", "python3", "procps", "less")


@dataclass(frozen=True)
class Flavour:
    """What its root file system is built from."""

    slurm: str  # the version, as people name it
    suite: str  # of Debian
    htcondor: bool  # Debian 12 has none

    @property
    def packages(self) -> tuple[str, ...]:
        """Debian 13's condor brings blahp with it; curl is for pegasus-transfer."""
        return ("condor", "curl", *_SLURM) if self.htcondor else _SLURM

    def recipe(self) -> dict[str, Any]:
        """Noted beside what was built: another recipe means to build afresh."""
        return {"version": 1, "suite": self.suite, "packages": list(self.packages)}


FLAVOURS = {
    flavour.slurm: flavour
    for flavour in (
        Flavour("24.11", "trixie", htcondor=True),
        Flavour("22.05", "bookworm", htcondor=False),
    )
}
DEFAULT = FLAVOURS["24.11"]


def flavour(slurm: str) -> Flavour:
    """The one with that Slurm. Raises UsageError."""
    if slurm not in FLAVOURS:
        known = ", ".join(FLAVOURS)
        raise UsageError(f"no testbed with Slurm {slurm!r}; there are {known}")
    return FLAVOURS[slurm]
