"""Persistent buffers: folders in a pool that outlive jobs, and belong to a user."""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

from pegasus_bb.runtime.backends.identity import user_name
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.messages import complain, message_of
from pegasus_bb.stager.slurm.directives import NAME
from pegasus_bb.stager.slurm.granted_space import Holder, Pools
from pegasus_bb.stager.slurm.space_folders import Trash, make_folder, share_folder
from pegasus_bb.stager.store import Records

PENDING = "pending"
READY = "ready"
DELETING = "deleting"

_MOST = 1000  # buffers of a user


@dataclass
class Buffer(Holder):
    """A persistent buffer. ``readers``: other users who may read it."""

    name: str = ""
    uid: int = 0
    gid: int = 0
    user: str = ""
    uuid: str = ""  # of the run that has asked for it
    pool: str = ""
    size: int = 0
    created: float = 0.0  # of the epoch
    state: str = PENDING
    readers: list[int] = field(default_factory=list)
    path: str = ""

    @property
    def key(self) -> str:
        """Its name."""
        return self.name

    @property
    def granted(self) -> int:
        """No bytes while it waits for room."""
        return 0 if self.state == PENDING else self.size


class Buffers:
    """The persistent buffers of the site. ``freed`` is called when room came back,
    unless ``trash`` says so itself.

    What changes is on disk before it is in memory: a change that raises OSError has not
    happened.
    """

    def __init__(
        self,
        files: Records[Buffer],
        pools: Pools,
        trash: Trash,
        freed: Callable[[], None],
    ) -> None:
        self._files, self._pools = files, pools
        self._trash, self._freed = trash, freed
        self.is_used: Callable[[str], bool] = lambda name: False  # by a job
        self._removing: set[str] = set()  # names of those whose folders are removed

    def resume(self) -> None:
        """Delete what was begun, by an earlier service or when the disk was full; grant
        what waits."""
        for buffer in self._files.all():
            if buffer.state == DELETING:
                self._remove_folder(buffer)
        self.grant_waiting()

    def create(
        self, uid: int, gid: int, name: str, size: int, uuid: str, pool: str
    ) -> Buffer:
        """Return the buffer, pending where there is no room now; asked again, the same
        one.

        Raises Refused for the name of another one, for what never fits, and for one too
        many; OSError.
        """
        if NAME.fullmatch(name) is None:
            raise Refused("bad-name", f"{name!r}: a name is 3 to 40 letters and digits")
        found = self.get(name)
        if found is not None:
            if (found.uid, found.uuid) == (uid, uuid) and uuid:
                return found
            raise _taken(found, uid)
        if sum(buffer.uid == uid for buffer in self._files.all()) >= _MOST:
            raise Refused("busy", f"you have {_MOST:,} buffers; delete one first")
        place = self._pools.pool(pool)
        buffer = Buffer(
            name,
            uid,
            gid,
            user=user_name(uid),
            uuid=uuid,
            pool=place.name,
            size=self._pools.rounded(place, size),
            created=round(time.time(), 3),
            path=os.path.join(place.path, name),
        )
        self._files.save(buffer)
        self.grant_waiting()
        return buffer

    def grant_waiting(self) -> None:
        """Give room to those that wait, in their order; a small one does not overtake
        a large one of its pool, unless that waits for the limit of another user. One
        whose folder cannot be made waits on."""
        full: set[tuple[str, int | None]] = set()  # pools, and those of a user
        for buffer in self._files.all():
            pool = self._pools.pool(buffer.pool)
            uid = buffer.uid
            is_full = full & {(pool.name, None), (pool.name, uid)}
            if buffer.state != PENDING or is_full:
                continue
            if buffer.size > self._pools.free_for(pool, uid):
                is_pool = buffer.size > self._pools.free(pool)
                full.add((pool.name, None if is_pool else uid))
                continue
            try:
                make_folder(pool, buffer.name, uid, buffer.gid)
                self._files.save(buffer, state=READY)
            except OSError as error:
                _complain(buffer, error)

    def shown(self, name: str) -> dict[str, Any] | None:
        """Return the buffer ``name`` as JSON; one that waits with what it waits for."""
        buffer = self.get(name)
        if buffer is None:
            return None
        if buffer.state != PENDING:
            return vars(buffer)
        pool = self._pools.pool(buffer.pool)
        why = self._pools.waits_for(pool, buffer.size, buffer.uid)
        return {**vars(buffer), "reason": why}

    def get(self, name: str) -> Buffer | None:
        """Return the buffer ``name``, of any user."""
        return self._files.get(name)

    def readable(self, name: str, uid: int, used: Sequence[str] = ()) -> Buffer:
        """Return the buffer ``name`` where it is ready, or among those that a job has
        ``used`` so far, and ``uid`` may read it. Raises Refused."""
        buffer = self.get(name)
        if buffer is None or (buffer.state != READY and name not in used):
            raise Refused("no-buffer", f"there is no buffer {name}")
        if uid not in buffer.readers:
            _check_owner(uid, buffer, ", who can share it: #BB_LUA persist share")
        return buffer

    def delete(self, uid: int, name: str, uuid: str = "") -> Buffer | None:
        """Begin to delete the buffer, as soon as no job uses it; None where there is
        none. Raises Refused where it is another user's, or of another run than
        ``uuid``; OSError."""
        buffer = self.get(name)
        if buffer is None:
            return None
        _check_owner(uid, buffer)
        if uuid and buffer.uuid != uuid:
            whose = f"the buffer {name} of {buffer.user}"
            raise Refused("taken", f"{whose} has the uuid {buffer.uuid}")
        if buffer.state == PENDING:
            self._files.remove(buffer)
            self._freed()
            return buffer
        if buffer.state == READY:
            self._files.save(buffer, state=DELETING)
        self._remove_folder(buffer)
        return buffer

    def share(self, uid: int, name: str, user: str, *, allowed: bool) -> Buffer:
        """Let ``user`` read the buffer, or no more. Raises Refused, OSError."""
        buffer = self.readable(name, uid)
        _check_owner(uid, buffer)
        try:
            reader = pwd.getpwnam(user).pw_uid
        except KeyError:
            raise Refused("no-user", f"{user} is no user of this site") from None
        others = set(buffer.readers) - {reader}
        readers = sorted({*others, reader} if allowed else others)
        share_folder(buffer.path, readers)
        self._files.save(buffer, readers=readers)
        return buffer

    def as_json(self) -> list[dict[str, Any]]:
        """Return all, oldest first."""
        return list(map(vars, self._files.all()))

    def _remove_folder(self, buffer: Buffer) -> None:
        """Remove its folder; where that cannot be done now, ``resume`` does it."""
        name = buffer.name
        if self.is_used(name) or name in self._removing:
            return

        def removed() -> None:
            self._removing.discard(name)
            try:
                self._files.remove(buffer)
            except OSError as error:
                _complain(buffer, error)

        self._removing.add(name)
        try:
            self._trash.drop(self._pools.pool(buffer.pool), name, removed)
        except OSError as error:
            self._removing.discard(name)
            _complain(buffer, error)


def _complain(buffer: Buffer, error: OSError) -> None:
    complain(f"buffer {buffer.name} waits: {message_of(error)}")


def _check_owner(uid: int, buffer: Buffer, mend: str = "") -> None:
    """Raises Refused where another user than ``uid`` owns it, unless that is root."""
    if uid not in (0, buffer.uid):
        whose = f"buffer {buffer.name} belongs to {buffer.user}"
        raise Refused("not-yours", f"{whose}{mend}")


def _taken(buffer: Buffer, uid: int) -> Refused:
    name = buffer.name
    uuid = buffer.uuid or "unknown"
    if buffer.uid == uid:
        mend = "delete it first, or take another name"
        return Refused("taken", f"you have a buffer {name} (uuid {uuid}): {mend}")
    owner = f"{buffer.user} (uid {buffer.uid}), run {uuid}"
    why = f"the name {name} belongs to {owner}; take another name"
    return Refused("taken", why)
