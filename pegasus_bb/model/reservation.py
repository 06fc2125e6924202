"""A reservation: what was asked for, what the scheduler says, what we noted.

Standard library only and Python 3.7: this file travels to compute nodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, Mapping, Optional, Type, TypeVar

from pegasus_bb.errors import UsageError

_N = TypeVar("_N", bound="_Noted")
NODE_LOCAL = "node-local"  # the backend of which nothing is reserved
DATAWARP, SLURM_LUA = "datawarp", "slurm-lua"
OF_SLURM = (DATAWARP, SLURM_LUA)  # jobs name what they need in a file for sbatch

# Slurm finds keywords with strstr() anywhere in a #BB line, `%` turns on symbol
# replacement, and the blank is the only delimiter (burst_buffer_datawarp.c).
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{2,39}")
_KEYWORDS = ("hurry", "name", "capacity", "pool", "type", "access", "datawarp")


def check_reservation_name(name: str) -> str:
    """Give ``name`` back if every backend can carry it. Raises UsageError."""
    found = next((word for word in _KEYWORDS if word in name.lower()), None)
    if _NAME.fullmatch(name) is None or found:
        why = f"it contains {found!r}, which the scheduler would read as a keyword"
        raise UsageError(
            f"reservation name {name!r} cannot be used: "
            + (why if found else "it must be 3 to 40 letters and digits")
            + "; a name such as pbb4f1c2a9e begins with a letter and has only letters "
            "and digits"
        )
    return name


class State(Enum):
    """Where a reservation is in its life; every backend maps its own words to these."""

    ABSENT = "absent"  # never asked for, or released
    PENDING = "pending"  # asked for, not granted yet
    STAGING_IN = "staging-in"  # granted, the system is still filling it
    READY = "ready"  # jobs may use it
    STAGING_OUT = "staging-out"  # the system is emptying it
    DELETING = "deleting"  # being given back
    GONE = "gone"  # it was there and is not any more, not by us
    FAILED = "failed"  # refused, held or broken: waiting will not help
    UNKNOWN = "unknown"  # the scheduler gave no answer: neither up nor gone


class _Noted:
    """A record in a JSON file of a submit directory."""

    def to_json(self) -> Dict[str, Any]:
        """A mapping that ``from_json`` reads back."""
        return dict(self.__dict__)

    @classmethod
    def from_json(cls: Type[_N], data: Mapping[str, Any]) -> _N:
        """Read what ``to_json`` gave; unknown keys are left out."""
        fields = getattr(cls, "__dataclass_fields__", {})
        return cls(**{key: data[key] for key in data if key in fields})


@dataclass(frozen=True)
class Request(_Noted):
    """What a run asks for; written at planning to <submit>/bb/request.json."""

    name: str  # letters and digits, unique per run
    backend: str  # datawarp | slurm-lua | directory | node-local
    capacity: int  # bytes, a multiple of the granule
    prefix: str  # the planned path that stands for the reservation: /bb/<name>
    uuid: str  # of this run; the identity file on the tier carries it
    tier: str  # name of the tier in the site catalog
    site: str  # the site whose scratch it becomes
    access: str = "striped"  # striped | private
    pool: str = ""  # empty: the default pool
    wait: int = 86400  # seconds that the gate may wait in all
    poll: int = 10  # seconds between two polls of the gate
    fallback: str = "fail"  # pfs: without a reservation the run goes on on the PFS
    settings: Dict[str, str] = field(default_factory=dict)  # the backend's own keys

    @property
    def service(self) -> str:
        """The folder of the sockets of the tier's staging service; empty if none."""
        return self.settings.get("service", "")


@dataclass(frozen=True)
class Status:
    state: State
    message: str = ""  # the scheduler's own words, for the user
    owner: str = ""  # of the reservation, if known
    size: int = 0  # bytes granted, 0 if unknown
    created: float = 0.0  # seconds since the epoch, 0.0 if unknown
    uuid: str = ""  # the run whose identity file it carries, if readable


@dataclass(frozen=True)
class Reservation(_Noted):
    """What setup noted in <submit>/bb/reservation.json: the run's own record."""

    name: str
    backend: str
    uuid: str
    requested_at: float  # seconds since the epoch
    size: int = 0  # bytes asked for
    job: str = ""  # the scheduler's id of the create request, if any
    owner: str = ""
    released_at: Optional[float] = None  # set once it was given back
    failure: str = ""  # the scheduler's words if it was refused

    @property
    def was_refused(self) -> bool:
        """Whether nothing was ever made, as far as this note knows."""
        return bool(self.failure and not (self.job or self.owner or self.released_at))
