"""What a user asks for, and what became of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache

from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.runtime.stager_client.dataspace import Dataspaces, check_places
from pegasus_bb.runtime.stager_client.protocol import (
    LARGEST,
    Field,
    Refused,
    is_amount,
    is_rate,
)

if TYPE_CHECKING:
    from typing import Any

COPY = "copy"
MOVE = "move"
REMOVE = "remove"
KINDS = (COPY, MOVE, REMOVE)
SWEEP = "sweep"  # what a worker does for a task that is given up: its parts go

PENDING = "pending"
RUNNING = "running"
DONE = "done"
FAILED = "failed"
CANCELLED = "cancelled"
ENDS = (DONE, FAILED, CANCELLED)
BY_USER = "cancelled by its user"

_FEWEST = 3  # keys of a task; most copies have no more
_LONGEST_SHARE = 200  # characters
_HIGHEST = 100  # priorities are -100 to 100
_EXTREME = 5  # the largest hint: RWH_WRITE_LIFE_EXTREME of linux/fcntl.h


def _is_whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


_FIELDS = {  # what a task may say beside its kind and places
    "digest": Field(lambda v: type(v) is bool, "is not true or false"),
    "deadline": Field(lambda v: v is None or is_amount(v), "is no time in seconds"),
    "rate": Field(is_rate, "is not 1 or more bytes per second, nor 0: no limit"),
    "size": Field(lambda v: _is_whole(v, 0, LARGEST - 1), "is no number of bytes"),
    "priority": Field(
        lambda v: _is_whole(v, -_HIGHEST, _HIGHEST), "is not -100 to 100"
    ),
    "hint": Field(lambda v: _is_whole(v, 0, _EXTREME), f"is not 0 to {_EXTREME}"),
}
# Later versions have more: `ping` tells a client which ones a service takes.
KEYS = frozenset(("kind", "source", "dest", "share", *_FIELDS))


class Origin(NamedTuple):
    """What the tasks of one request have in common: it is there once, for memory."""

    uid: int
    submitted: float  # a time.time()
    first: int  # number of the first of them
    total: int = 1  # tasks


class Terms(NamedTuple):
    """How a task shall be done. Most tasks have the same: it is there once, too."""

    deadline: float | None = None  # a time.time()
    priority: int = 0
    rate: float = 0.0  # bytes per second; 0: no limit
    share: str = ""  # the tasks of a user with this share have ``rate`` together
    hint: int = 0  # runtime/staging/hints.py, of all that it writes

    @classmethod
    def of(cls, spec: dict[str, Any]) -> Terms:
        """Return those of a task that a client has described."""
        return _same_terms(*map(spec.get, cls._fields, PLAIN))


PLAIN = Terms()


@lru_cache(maxsize=64)
def _same_terms(*values: Any) -> Terms:
    return Terms(*values)


class StagerTask:
    """One copy, move or removal. 100,000 of them wait in 64 MiB, so it has slots."""

    __slots__ = (
        "dest",
        "ended_at",
        "id",
        "kind",
        "message",
        "moved",
        "origin",
        "outcome",
        "size",
        "source",
        "state",
        "terms",
    )

    def __init__(self, number: int, origin: Origin, spec: dict[str, Any]) -> None:
        """``spec`` has passed ``check_specs``."""
        self.id = number
        self.origin = origin
        self.kind: str = sys.intern(spec["kind"])  # one text for all
        self.source: str = spec["source"]
        self.dest: str = spec.get("dest") or ""  # a removal may say null
        self.terms = PLAIN if self.dest and len(spec) == _FEWEST else Terms.of(spec)
        self.size: int = spec.get("size", 0)  # bytes, as far as is known
        # What a copy has made; None: it shall not say that.
        self.outcome: dict[str, Any] | None = {} if spec.get("digest") else None
        self.state = PENDING
        self.message = ""  # why it failed, or a warning
        self.moved = 0  # bytes
        self.ended_at = 0.0

    @property
    def uid(self) -> int:
        """The user who submitted it."""
        return self.origin.uid

    @property
    def share(self) -> str:
        """What paces it, by a name with a blank: its share, or a bucket of its own;
        empty where it has no rate."""
        if not self.terms.rate:
            return ""
        return f"{self.uid} {self.terms.share}" if self.terms.share else f" {self.id}"

    @property
    def digest(self) -> bool:
        """Whether it shall say the digest of what it has copied."""
        return self.outcome is not None

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ENDS

    def as_json(self) -> dict[str, Any]:
        """As the service shows it to clients."""
        shown: dict[str, Any] = {name: getattr(self, name) for name in _SHOWN}
        uid, submitted, first, _ = self.origin
        origin = {"uid": uid, "submitted": submitted, "request": first}
        return {**shown, **origin, **self.terms._asdict()}


_SHOWN = tuple(name for name in StagerTask.__slots__ if name not in ("origin", "terms"))


def check_specs(specs: Sequence[Any], spaces: Dataspaces) -> None:
    """Raises Refused where one of ``specs`` asks for what cannot be."""
    places: list[str] = []
    for spec in specs:
        places += _places_of(spec)
        if len(spec) > _FEWEST or "dest" not in spec:  # it says more than that
            _check_values(spec)
            _check_share(spec)
    check_places(places, spaces)


def _places_of(spec: Any) -> tuple[str, str]:
    """Return what it reads and writes. Raises Refused."""
    if not isinstance(spec, dict) or not KEYS.issuperset(spec):
        raise Refused("bad-task", f"a task has the keys {', '.join(sorted(KEYS))}")
    kind = spec.get("kind")
    source = spec.get("source")
    dest = spec.get("dest")
    if kind not in KINDS:
        raise Refused("bad-task", f"kind {kind!r} is none of {', '.join(KINDS)}")
    if not isinstance(source, str):
        raise Refused("bad-task", f"source {source!r} is no file or folder")
    if kind == REMOVE:
        if dest is not None:
            raise Refused("bad-task", "a removal has no dest")
        dest = source
    elif not isinstance(dest, str):
        raise Refused("bad-task", f"dest {dest!r} is no file or folder")
    return source, dest


def _check_values(spec: dict[str, Any]) -> None:
    for key, field in _FIELDS.items():
        if key in spec and not field.is_good(spec[key]):
            raise Refused("bad-task", f"{key} {spec[key]!r} {field.wanted}")


def _check_share(spec: dict[str, Any]) -> None:
    share = spec.get("share", "")
    if not isinstance(share, str) or len(share) > _LONGEST_SHARE:
        raise Refused("bad-task", f"share is no text of {_LONGEST_SHARE} characters")
    if share and not spec.get("rate"):
        raise Refused("bad-task", f"share {share!r}: a task with a share has a rate")
