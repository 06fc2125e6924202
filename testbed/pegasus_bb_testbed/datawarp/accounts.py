"""Sessions and instances: the space that each owner has. One file, one lock.

A session is what Slurm calls by a token: a persistent buffer by its name, a job by its
id. An instance is the space that it holds. Ids are whole numbers: Slurm's reader
overlooks any other, and then cannot tell after a restart which belongs to which.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from pegasus_bb.core.errors import ReservationFailed, UsageError
from pegasus_bb.core.files import read_json, write_json
from pegasus_bb_testbed.datawarp.place import Place, Pool


@dataclass
class Session:
    id: int
    token: str
    owner: int  # uid
    group: int
    created: int  # seconds since the epoch
    persistent: bool
    mounts: list[str] = field(default_factory=list)  # names below the mount folder


@dataclass
class Instance:
    id: int
    session: int
    pool: str
    granules: int
    bytes: int


@dataclass
class Accounts:
    next: int = 1
    sessions: list[Session] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    # how often each line of the faults file was used
    used_faults: dict[str, int] = field(default_factory=dict)

    def number(self) -> int:
        self.next += 1
        return self.next - 1

    def session(self, token: str) -> Session:
        """Raises ReservationFailed, in the words that Slurm takes for "gone"."""
        found = self.find(token)
        if found is None:
            raise ReservationFailed(f"No matching session for token {token}")
        return found

    def find(self, token: str) -> Session | None:
        return next((s for s in self.sessions if s.token == token), None)

    def instance(self, session: Session) -> Instance | None:
        """The space of a session; a job that only uses others' holds none."""
        return next((i for i in self.instances if i.session == session.id), None)

    def free(self, pool: Pool) -> int:
        held = sum(i.granules for i in self.instances if i.pool == pool.name)
        return pool.quantity - held

    def grant(self, session: Session, pool: Pool, size: int) -> Instance:
        """Give ``size`` bytes, rounded up to granules. Raises ReservationFailed."""
        granules = -(-size // pool.granularity)
        if granules > self.free(pool):
            raise ReservationFailed(
                f"dwsd: no space left: {granules} granules of {pool.granularity} bytes "
                f"asked for, {self.free(pool)} free in {pool.name}"
            )
        total = granules * pool.granularity
        found = Instance(self.number(), session.id, pool.name, granules, total)
        self.instances.append(found)
        return found

    def forget(self, session: Session) -> None:
        self.sessions.remove(session)
        self.instances = [i for i in self.instances if i.session != session.id]


@contextlib.contextmanager
def open_accounts(place: Place) -> Iterator[Accounts]:
    """The accounts, under their lock; a change is written whole or not at all.

    Raises UsageError where the file is not one of ours: never begins anew by itself,
    which would give the same space out twice.
    """
    handle = os.open(place.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # ends with the process, kill -9 included
        accounts = _read(place)
        before = asdict(accounts)
        yield accounts
        if asdict(accounts) != before:
            write_json(str(place.accounts), asdict(accounts))
    finally:
        os.close(handle)


def _read(place: Place) -> Accounts:
    try:
        data: dict[str, Any] = read_json(str(place.accounts))
        data["sessions"] = [Session(**entry) for entry in data["sessions"]]
        data["instances"] = [Instance(**entry) for entry in data["instances"]]
        return Accounts(**data)
    except FileNotFoundError:
        return Accounts()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{place.accounts}: not readable ({error})") from error
