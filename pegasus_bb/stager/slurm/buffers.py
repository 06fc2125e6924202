"""Persistent buffers: folders in a pool that outlive jobs, and belong to a user."""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Sequence
from typing import Any, Callable

from pegasus_bb.core.files import write_json
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.messages import complain, message_of
from pegasus_bb.stager.slurm.directives import NAME
from pegasus_bb.stager.slurm.granted_space import Pools
from pegasus_bb.stager.slurm.space_folders import Trash, make_folder, share_folder
from pegasus_bb.stager.slurm.stored import check_record, damaged, read_stored

PENDING = "pending"
READY = "ready"
DELETING = "deleting"

_MOST = 1000  # buffers of a user: each change writes the records of all users

Record = dict[str, Any]
_TEXTS = ("name", "user", "uuid", "pool", "state", "path")
_LIKE: Record = {
    **dict.fromkeys(_TEXTS, ""),
    "uid": 0,
    "gid": 0,
    "size": 0,
    "created": 0.0,
    "readers": [0],
}


class Buffers:
    """All of the site, durable in one file. ``freed`` is called when room came back.

    What changes is on disk before it is in memory: a change that raises OSError has not
    happened.
    """

    def __init__(
        self, path: str, pools: Pools, trash: Trash, freed: Callable[[], None]
    ) -> None:
        """Raises OSError, UsageError."""
        self._path, self._pools = path, pools
        self._trash, self._freed = trash, freed
        records = read_buffers(path)
        self._records = {record["name"]: record for record in records}
        self._users: dict[str, set[str]] = {}  # lives of jobs by name of a buffer
        self._going: set[str] = set()  # names of those whose folders are being removed
        for record in records:
            size = record["size"] if record["state"] != PENDING else 0
            pools.restore(record["name"], record["pool"], size, record["uid"])

    @property
    def has_deleted(self) -> bool:
        """Whether one waits for its end until no job uses it any more."""
        return any(
            record["state"] == DELETING and name not in self._going
            for name, record in self._records.items()
        )

    def resume(self) -> None:
        """Delete what was begun, by an earlier service or when the disk was full; grant
        what waits."""
        for record in list(self._records.values()):
            if record["state"] == DELETING:
                self._unlink(record)
        self.grant_waiting()

    def create(
        self, uid: int, gid: int, name: str, size: int, uuid: str, pool: str
    ) -> Record:
        """The buffer, pending where there is no room now; asked again, the same one.

        Raises Refused for the name of another one, for what never fits, and for one too
        many; OSError.
        """
        if NAME.fullmatch(name) is None:
            raise Refused("bad-name", f"{name!r}: a name is 3 to 40 letters and digits")
        found = self._records.get(name)
        if found is not None:
            if (found["uid"], found["uuid"]) == (uid, uuid) and uuid:
                return found
            raise _taken(found, uid)
        if sum(record["uid"] == uid for record in self._records.values()) >= _MOST:
            raise Refused("busy", f"you have {_MOST:,} buffers; delete one first")
        record = {
            "name": name,
            "uid": uid,
            "gid": gid,
            "user": _user(uid),
            "uuid": uuid,
            "pool": self._pools.pool(pool).name,
            "size": self._pools.rounded(pool, size),
            "created": round(time.time(), 3),
            "state": PENDING,
            "readers": [],
            "path": os.path.join(self._pools.pool(pool).path, name),
        }
        self._save({**self._records, name: record})
        self.grant_waiting()
        return self._records[name]

    def grant_waiting(self) -> None:
        """Give room to those that wait, in their order; a small one does not overtake
        a large one of its pool, unless that waits for the limit of another user. One
        whose folder cannot be made waits on."""
        full: set[tuple[str, int | None]] = set()  # pools, and those of a user
        for record in list(self._records.values()):
            name = record["name"]
            pool = record["pool"]
            uid = record["uid"]
            if record["state"] != PENDING or full & {(pool, None), (pool, uid)}:
                continue
            if self._grant(record) is None:
                is_full = self._pools.is_full_for_all(
                    self._pools.pool(pool), record["size"]
                )
                full.add((pool, None if is_full else uid))
                continue
            try:
                folder = (self._pools.pool(pool), name, record["uid"], record["gid"])
                make_folder(*folder)
                self._change(record, state=READY)
            except OSError as error:
                self._pools.release(name, pool)
                complain(f"buffer {name} waits: {message_of(error)}")

    def _grant(self, record: Record) -> int | None:
        """None where there is no room, or where the limit of a user has become less
        than what was taken before."""
        pool = record["pool"]
        size = record["size"]
        uid = record["uid"]
        try:
            return self._pools.grant(record["name"], pool, size, uid)
        except Refused:
            return None

    def shown(self, name: str) -> Record | None:
        """The buffer ``name``; one that waits with what it waits for."""
        record = self._records.get(name)
        if record is None or record["state"] != PENDING:
            return record
        pool = self._pools.pool(record["pool"])
        why = self._pools.waits_for(pool, record["size"], record["uid"])
        return {**record, "reason": why}

    def get(self, name: str) -> Record | None:
        """The buffer ``name``, of any user."""
        return self._records.get(name)

    def readable(self, name: str, uid: int, job: str = "") -> Record:
        """The buffer ``name`` where it is ready, or ``job`` uses it, and ``uid`` may.
        Raises Refused."""
        record = self._records.get(name)
        is_used = job in self._users.get(name, ())
        if record is None or (record["state"] != READY and not is_used):
            raise Refused("no-buffer", f"there is no buffer {name}")
        if uid not in (0, record["uid"], *record["readers"]):
            owner = record["user"]
            raise Refused(
                "not-yours",
                f"buffer {name} belongs to {owner}, who can share it: "
                "#BB_LUA persist share",
            )
        return record

    def use(self, name: str, uid: int, job: str) -> Record:
        """``readable``; and until ``job`` ends its use, no file of it is removed."""
        record = self.readable(name, uid, job)
        self._users.setdefault(name, set()).add(job)
        return record

    def restore_use(self, names: Sequence[str], job: str) -> None:
        """``job`` uses them since before the service was started."""
        for name in names:
            self._users.setdefault(name, set()).add(job)

    def end_use(self, job: str) -> None:
        """``job`` needs no buffer any more."""
        for name, jobs in list(self._users.items()):
            jobs.discard(job)
            record = self._records.get(name)
            if not jobs:
                del self._users[name]
                if record is not None and record["state"] == DELETING:
                    self._unlink(record)

    def delete(self, uid: int, name: str, uuid: str = "") -> Record | None:
        """Begin to delete the buffer, as soon as no job uses it; None where there is
        none. Raises Refused where it is another user's, or of another run than
        ``uuid``; OSError."""
        record = self._records.get(name)
        if record is None:
            return None
        self._check_owner(uid, record)
        if uuid and record["uuid"] != uuid:
            whose = f"the buffer {name} of {record['user']}"
            raise Refused("taken", f"{whose} has the uuid {record['uuid']}")
        if record["state"] == PENDING:
            self._forget(record)
            return record
        if record["state"] == READY:
            record = self._change(record, state=DELETING)
        self._unlink(record)
        return record

    def share(self, uid: int, name: str, user: str, allowed: bool) -> Record:
        """Let ``user`` read the buffer, or no more. Raises Refused, OSError."""
        record = self.readable(name, uid)
        self._check_owner(uid, record)
        try:
            reader = pwd.getpwnam(user).pw_uid
        except KeyError:
            raise Refused("no-user", f"{user} is no user of this site") from None
        readers = set(record["readers"]) - {reader} | ({reader} if allowed else set())
        share_folder(record["path"], sorted(readers))
        return self._change(record, readers=sorted(readers))

    def as_json(self) -> list[Record]:
        """All, oldest first."""
        return list(self._records.values())

    def _check_owner(self, uid: int, record: Record) -> None:
        if uid not in (0, record["uid"]):
            owner = record["user"]
            name = record["name"]
            raise Refused("not-yours", f"buffer {name} belongs to {owner}")

    def _unlink(self, record: Record) -> None:
        """Where that cannot be done now, ``resume`` does it."""
        name = record["name"]
        if self._users.get(name) or name in self._going:
            return
        self._going.add(name)

        def gone() -> None:
            self._going.discard(name)
            try:
                self._forget(record)
            except OSError as error:
                complain(f"buffer {name} waits: {message_of(error)}")

        try:
            self._trash.drop(self._pools.pool(record["pool"]), name, gone)
        except OSError as error:
            self._going.discard(name)
            complain(f"buffer {name} waits: {message_of(error)}")

    def _forget(self, record: Record) -> None:
        name = record["name"]
        self._save({key: r for key, r in self._records.items() if key != name})
        self._pools.release(name, record["pool"])
        self._freed()

    def _change(self, record: Record, **changes: Any) -> Record:
        changed = {**record, **changes}
        self._save({**self._records, record["name"]: changed})
        return changed

    def _save(self, records: dict[str, Record]) -> None:
        write_json(self._path, list(records.values()), 0o600)
        self._records = records


def read_buffers(path: str) -> list[Record]:
    """All that are stored in ``path``; none where nothing is there. Raises OSError,
    UsageError."""
    if not os.path.lexists(path):
        return []
    records = read_stored(path)
    if not isinstance(records, list):
        raise damaged(path, "it is no list")
    for record in records:
        check_record(path, record, _LIKE, list(_LIKE))
        if NAME.fullmatch(record["name"]) is None:
            raise damaged(path, f"name: {record['name'][:40]!r}")
    return records


def _taken(record: Record, uid: int) -> Refused:
    if record["uid"] == uid:
        why = (
            f"you have a buffer {record['name']} (uuid {record['uuid'] or 'unknown'}): "
            "delete it first, or take another name"
        )
        return Refused("taken", why)
    return Refused(
        "taken",
        f"the name {record['name']} belongs to {record['user']} (uid {record['uid']}), "
        f"run {record['uuid'] or 'unknown'}; take another name",
    )


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
