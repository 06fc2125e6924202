"""A reservation: its request, its status at the scheduler, and the run's own note.

Standard library only and Python 3.9: this file runs on compute nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.model.backends import KINDS, BackendKind

if TYPE_CHECKING:
    from typing import Any

# Slurm finds keywords with strstr() anywhere in a #BB line, `%` turns on symbol
# replacement, and the blank is the only delimiter (burst_buffer_datawarp.c).
_KEYWORDS = ("hurry", "name", "capacity", "pool", "type", "access", "datawarp")


def check_reservation_name(name: str) -> str:
    """Return ``name`` if every backend accepts it. Raises UsageError."""
    keyword = next((word for word in _KEYWORDS if word in name.lower()), None)
    is_name = name.isascii() and name.isalnum() and name[0].isalpha()
    if not (is_name and 3 <= len(name) <= 40) or keyword:
        why = f"it contains {keyword!r}, which the scheduler would read as a keyword"
        raise UsageError(
            f"reservation name {name!r} cannot be used: "
            + (why if keyword else "it must be 3 to 40 letters and digits")
            + "; a name such as pbb4f1c2a9e begins with a letter and has only letters "
            "and digits"
        )
    return name


class State(Enum):
    """The states of a reservation; every backend maps its native states to these."""

    ABSENT = "absent"  # never requested, or released
    PENDING = "pending"  # requested, not granted yet
    STAGING_IN = "staging-in"  # granted, and data is being staged in
    READY = "ready"  # jobs may use it
    STAGING_OUT = "staging-out"  # data is being staged out
    DELETING = "deleting"  # being released
    GONE = "gone"  # it existed and was removed, but not by us
    FAILED = "failed"  # refused, held or broken: waiting will not help
    UNKNOWN = "unknown"  # the scheduler gave no answer: neither up nor gone

    @property
    def is_missing(self) -> bool:
        """Whether the scheduler has answered that there is none."""
        return self in (State.ABSENT, State.GONE)


class Request(NamedTuple):
    """The request of a run; planning writes it to <submit>/bb/request.json."""

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
    poll: int = 10  # seconds between two polls of the gate: model/settings.py decides
    fallback: str = "fail"  # pfs: without a reservation the run goes on on the PFS
    settings: Mapping[str, str] = {}  # the backend's own keys

    @property
    def kind(self) -> BackendKind:
        """What its backend does."""
        return KINDS[self.backend]

    @property
    def service(self) -> str:
        """The folder of the sockets of the tier's staging service; empty if none."""
        return self.settings.get("service", "")

    @property
    def is_all_nodes_see(self) -> bool:
        """Whether nodes see its tier, and nothing else of what the submit host has."""
        return self.settings.get("submit_dir") == "local"

    @property
    def transfers_here(self) -> bool:
        """Whether the submit host moves the files: with a staging service, or where
        nodes do not see what it sees. Else a node of the site does."""
        return bool(self.service) or self.is_all_nodes_see

    def to_json(self) -> dict[str, Any]:
        """A mapping that ``from_json`` reads back."""
        return self._asdict()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Request:
        """The request of ``to_json``; unknown keys are ignored."""
        return cls(**{key: data[key] for key in data if key in cls._fields})


class Status(NamedTuple):
    state: State
    message: str = ""  # the scheduler's message, for the user
    owner: str = ""  # of the reservation, if known
    size: int = 0  # bytes granted, 0 if unknown
    created: float = 0.0  # seconds since the epoch, 0.0 if unknown
    uuid: str = ""  # the run whose identity file it carries, if readable
    unaccounted: int = 0  # bytes of its pool in use by nothing that is listed


class Reservation(NamedTuple):
    """The run's own note of its reservation; setup writes bb/reservation.json."""

    name: str
    backend: str
    uuid: str
    requested_at: float  # seconds since the epoch
    size: int = 0  # bytes requested
    job: str = ""  # the scheduler's id of the create request, if any
    owner: str = ""
    released_at: float | None = None  # set when it is released
    failure: str = ""  # the scheduler's message if it was refused

    @classmethod
    def of(cls, request: Request, requested_at: float, **more: Any) -> Reservation:
        """The note of ``request``; ``more``: its other fields."""
        made = (request.name, request.backend, request.uuid, requested_at)
        return cls(*made, **{"size": request.capacity, **more})

    @property
    def was_refused(self) -> bool:
        """Whether, by this note, no reservation was ever created."""
        return bool(self.failure and not (self.job or self.owner or self.released_at))

    def to_json(self) -> dict[str, Any]:
        """A mapping that ``from_json`` reads back."""
        return self._asdict()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Reservation:
        """The note of ``to_json``; unknown keys are ignored."""
        return cls(**{key: data[key] for key in data if key in cls._fields})
