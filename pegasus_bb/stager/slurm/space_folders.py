"""Folders of jobs and buffers in a pool: made, shared and removed.

The pool's own folder belongs to the service, so no user can put a link in the place of
a folder here.
"""

from __future__ import annotations

import asyncio
import errno
import os
import struct
import time
from collections.abc import Sequence
from functools import partial
from typing import Callable, NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import sync_directory
from pegasus_bb.core.removal import NotInTime, remove
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.messages import complain, message_of
from pegasus_bb.stager.ownership import why_open
from pegasus_bb.stager.slurm.slurm_config import GranulePool

_GONE = ".gone."  # folders that are being removed
_THREADS = 2
_SLICE = 1.0  # seconds of one removal; then the others have their turn
_AGAIN = 60.0  # seconds until what could not be removed is tried again
_ACL = "system.posix_acl_access"
_DEFAULT_ACL = "system.posix_acl_default"
_VERSION = 2
_NO_ID = 0xFFFFFFFF
# linux/posix_acl.h
_OWNER = 0x01
_USER = 0x02
_GROUP = 0x04
_MASK = 0x10
_OTHER = 0x20
# r-x, rwx
_READ = 5
_ALL = 7

Then = Callable[[], None]


class Left(NamedTuple):
    """A folder that is being removed. ``size``: its bytes, if only its name tells."""

    pool: GranulePool
    entry: str

    @property
    def path(self) -> str:
        """Where it is."""
        return os.path.join(self.pool.path, self.entry)

    @property
    def name(self) -> str:
        """Its former one."""
        return self.entry[len(_GONE) :].rpartition(".")[0]

    @property
    def size(self) -> int:
        """Bytes that belong to no record any more."""
        size = self.entry.rpartition("=")[2]
        return int(size) if size.isdigit() else 0


def _check_pool(pool: GranulePool) -> None:
    """Check that the pool's folder is there and closed to users' hands. Raises OSError,
    and UsageError where users could put folders there themselves."""
    if not os.path.isdir(pool.path):
        raise UsageError(
            f"pool {pool.name}: {pool.path} is no folder here; mount its storage, or "
            f"make it: mkdir -m 755 {pool.path}"
        )
    why = why_open(os.path.realpath(pool.path), os.getuid())
    if why:
        raise UsageError(f"pool {pool.name}: {why}")


def make_folder(pool: GranulePool, name: str, uid: int, gid: int) -> None:
    """Make the folder ``name``, which is ``uid``'s. Raises OSError."""
    path = os.path.join(pool.path, name)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if os.lstat(path).st_uid not in (uid, os.getuid()):
            raise
        share_folder(path, ())  # those who could read it can no more
    if os.getuid() != uid:
        os.chown(path, uid, gid, follow_symlinks=False)
    sync_directory(pool.path)


def left_in(pool: GranulePool) -> list[Left]:
    """Return what was begun to be removed, also by an earlier service. Raises
    OSError."""
    names = os.listdir(pool.path)
    return [Left(pool, name) for name in names if name.startswith(_GONE)]


class Trash:
    """Removes folders of jobs and buffers. ``freed`` is called for each pool that got
    space back.

    Threads remove the folders beside the event loop, those of all users by turns: a
    loop that waits for a million files serves no one. They end with the service, and
    the next one goes on. All calls come from the thread of the loop.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        pools: Sequence[GranulePool],
        freed: Callable[[str], object],
    ) -> None:
        """Removes what an earlier service began to remove. Raises OSError, and
        UsageError where users could put folders into a pool themselves."""
        self._loop, self._freed = loop, freed
        self._turns = asyncio.Semaphore(_THREADS)
        self._emptying: set[asyncio.Task[None]] = set()
        self._removing: dict[Left, list[Then]] = {}
        for pool in pools:
            _check_pool(pool)
            for left in left_in(pool):
                self._resume(left, lambda: None)

    def size(self, pool: GranulePool) -> int:
        """Return the bytes of ``pool`` that are removed and belong to no record."""
        return sum(left.size for left in self._removing if left.pool == pool)

    def drop(self, pool: GranulePool, name: str, then: Then, size: int = 0) -> None:
        """Take away the name ``name``, and call ``then`` when its bytes are gone, too.
        ``size`` of them belong to no record from now on: the name tells the next
        service. Raises OSError."""
        gone = Left(pool, f"{_GONE}{name}.{time.time_ns()}={size}")
        try:
            os.rename(os.path.join(pool.path, name), gone.path)
        except FileNotFoundError:  # an earlier call, or service, may have renamed it
            every = {left for left in left_in(pool) if left.name == name}
        else:
            every = {gone}
        sync_directory(pool.path)
        if not every:
            then()

        def one_gone(left: Left) -> None:
            every.discard(left)
            if not every:
                then()

        for left in list(every):
            self._resume(left, partial(one_gone, left))

    def _resume(self, left: Left, then: Then) -> None:
        if left in self._removing:
            self._removing[left].append(then)
            return
        self._removing[left] = [then]
        self._remove(left)

    def _remove(self, left: Left) -> None:
        emptying = self._loop.create_task(self._empty(left))
        self._emptying.add(emptying)
        emptying.add_done_callback(self._emptying.discard)

    async def _empty(self, left: Left) -> None:
        """Remove it, however often that has to be tried."""
        reported = ""
        while True:
            try:
                async with self._turns:
                    why = await self._loop.run_in_executor(None, why_left, left.path)
            except NotInTime:
                continue
            if not why:
                break
            if why != reported:
                complain(f"not removed, so its space stays in use: {why}")
            reported = why
            await asyncio.sleep(_AGAIN)
        self._gone(left)

    def _gone(self, left: Left) -> None:
        for then in self._removing.pop(left):
            then()
        self._freed(left.pool.name)


def why_left(path: str) -> str:
    """Remove ``path``, and return why it is not gone. Raises NotInTime where the
    time of one try is over."""
    try:
        remove(path, time.monotonic() + _SLICE)
    except NotInTime:
        raise
    except OSError as error:
        return message_of(error)
    except Exception as error:  # the thread serves all
        return repr(error)
    return ""


def share_folder(path: str, readers: Sequence[int]) -> None:
    """Let users ``readers`` read the folder and what will be made in it, and no other.

    Raises Refused where the file system has no access control lists.
    """
    try:
        for name in (_ACL, _DEFAULT_ACL):
            if readers:
                os.setxattr(path, name, _acl(readers))
            else:
                _remove_acl(path, name)
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.EOPNOTSUPP):
            raise
        raise Refused(
            "no-acl",
            f"{path} cannot be shared: its file system has no access control lists",
        ) from error


def _remove_acl(path: str, name: str) -> None:
    try:
        os.removexattr(path, name)
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise
    if name == _ACL:
        os.chmod(path, 0o700)


def _acl(readers: Sequence[int]) -> bytes:
    """The attribute's value: a version and entries (tag, rights, id), little-endian."""
    entries = [(_OWNER, _ALL, _NO_ID)]
    entries += [(_USER, _READ, uid) for uid in sorted(readers)]
    entries += [(_GROUP, 0, _NO_ID), (_MASK, _READ, _NO_ID), (_OTHER, 0, _NO_ID)]
    packed: list[bytes] = [struct.pack("<HHI", *entry) for entry in entries]
    return struct.pack("<I", _VERSION) + b"".join(packed)
