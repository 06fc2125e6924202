"""The cache of shared inputs on the disk of a node: a folder of one user.

    <disk>/pegasus_bb-cache.<host>.<uid>/  0700; locked while entries are removed
        <key>.<size>/                      a whole copy, and a note on it; a job that
                                           reads it has a shared lock: its lease
        <key>.<size>.part/                 a copy in the making, locked by the job that
                                           brings it

What no process has locked may be removed at any time: each job brings its inputs itself
if the cache has none. Locks may hold on one host alone, so each host has a folder, also
where hosts share the disk by mistake.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from socket import gethostname

from pegasus_bb.core.files import await_lock
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime.job_reservation.cached_copy import Source, copy_whole, is_whole
from pegasus_bb.runtime.job_reservation.disk import (
    FOLDER,
    free_bytes,
    is_same_folder,
    remove_unlocked,
)
from pegasus_bb.runtime.task import discard

# Not pegasus_bb.cache: a host may have that name, and its jobs remove such folders.
NAME = "pegasus_bb-cache"
_PART = ".part"
_KEPT = 7 * 86400.0  # seconds since an entry was used last
_PATIENCE = 3600.0  # seconds that a job waits for another one, which brings its input
_LOOK = 1.0  # seconds in which another job is done with its look at a copy
_PAUSE = 0.05  # seconds between two looks at a lock


def cache_path(disk: str) -> str:
    """This user's on this host."""
    return os.path.join(disk, f"{NAME}.{gethostname()}.{os.geteuid()}")


def own_entries(path: str) -> list[str]:
    """What is in folder ``path``, this user's own; none if it is not there. Raises
    OSError if others could have put something else in its place."""
    if not os.path.lexists(path):
        return []
    _check_parent(os.path.dirname(path))
    _check_own(path)
    return [os.path.join(path, name) for name in os.listdir(path)]


class Lease(NamedTuple):
    """Until it is closed, nothing removes the copy."""

    handle: int
    path: str  # of the copy
    is_new: bool  # this job has brought it


class _Entry(NamedTuple):
    used: float
    path: str
    size: int


class CacheFolder:
    """The cache below ``disk``. Its entries have ``limit`` bytes at most."""

    def __init__(self, disk: str, limit: int) -> None:
        """Raises OSError if it cannot be this user's alone."""
        self.path = cache_path(disk)
        self._disk = disk
        self._limit = limit
        _check_parent(disk)
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.path, 0o700)
        _check_own(self.path)
        self._remove_old()

    def lease(self, source: Source) -> Lease | None:
        """A lease of the copy of ``source``; None if there is no whole one. Raises
        OSError."""
        folder = self._entry(source)
        while True:
            try:
                handle = os.open(folder, FOLDER)
            except FileNotFoundError:
                return None
            if _is_locked(folder, handle, fcntl.LOCK_SH):
                break
        if is_whole(os.path.join(folder, source.name)):
            os.utime(handle)
            return Lease(handle, os.path.join(folder, source.name), is_new=False)
        os.close(handle)
        self._remove_damaged(folder)
        return None

    def bring(self, source: Source) -> Lease | None:
        """A lease of the copy of ``source``, which is made if there is none: by one job
        at a time. None if the cache has no room. Raises OSError, CopyFailed."""
        part = self._entry(source) + _PART
        while True:
            lease = self.lease(source)
            if lease is not None:
                return lease
            lock = _lock_part(part)
            if lock is None:
                continue
            try:
                return self.lease(source) or self._make(source, part)
            finally:
                discard(part)
                os.close(lock)

    def drop(self, lease: Lease) -> None:
        """End ``lease`` of a copy that was changed, and remove that."""
        os.close(lease.handle)
        remove_unlocked(os.path.dirname(lease.path))

    def free(self, need: int) -> None:
        """Remove unused entries until the disk has ``need`` bytes free, or there are no
        more. Raises OSError."""
        self._remove_until(lambda _: free_bytes(self._disk) >= need)

    def _entry(self, source: Source) -> str:
        return os.path.join(self.path, f"{source.key}.{source.size}")

    def _make(self, source: Source, part: str) -> Lease | None:
        if not self._has_room(source):
            return None
        new = os.path.join(part, "new")
        remove(new)  # of a killed job
        os.mkdir(new, 0o700)
        handle = os.open(new, FOLDER)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)  # before others see it
            if copy_whole(source, new):
                os.rename(new, self._entry(source))
                path = os.path.join(self._entry(source), source.name)
                return Lease(handle, path, is_new=True)
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        return None

    def _has_room(self, source: Source) -> bool:
        """Whether all entries have at most ``limit`` bytes, this one included, whose
        part is there: after the removal of those that no job uses."""
        if source.size > self._limit:
            return False
        return self._remove_until(lambda total: total <= self._limit)

    def _remove_until(self, is_enough: Callable[[int], bool]) -> bool:
        """Remove entries, those first that were used least recently, until it
        ``is_enough``, given the bytes of all that are left. Returns whether it is."""
        with self._locked():
            entries = sorted(self._entries())
            total = sum(entry.size for entry in entries)
            for entry in entries:
                if is_enough(total):
                    return True
                if remove_unlocked(entry.path):
                    total -= entry.size
            return is_enough(total)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        handle = os.open(self.path, FOLDER)
        try:
            await_lock(handle, _PATIENCE, _PAUSE)
            yield
        finally:
            os.close(handle)

    def _entries(self) -> Iterator[_Entry]:
        with os.scandir(self.path) as found:
            for entry in found:
                size = entry.name.split(".")[1:2]
                with contextlib.suppress(OSError, ValueError):  # removed meanwhile
                    used = entry.stat(follow_symlinks=False).st_mtime
                    yield _Entry(used, entry.path, int("".join(size) or 0))

    def _remove_old(self) -> None:
        before = time.time() - _KEPT
        for entry in list(self._entries()):
            if entry.used < before:
                remove_unlocked(entry.path)

    def _remove_damaged(self, folder: str) -> None:
        """Other jobs may be finding out the same at this moment, with a lock."""
        deadline = time.monotonic() + _LOOK
        while not remove_unlocked(folder) and os.path.exists(folder):
            if time.monotonic() > deadline:
                raise OSError(errno.EBUSY, "it was changed, and a job reads it", folder)
            time.sleep(_PAUSE)


def _check_parent(disk: str) -> None:
    """Another user who may rename in ``disk`` could put a folder of his in our place.
    Raises OSError."""
    found = os.stat(disk)
    is_open = found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX
    if is_open or found.st_uid not in (0, os.geteuid()):
        raise OSError(errno.EPERM, "other users may rename what is in it", disk)


def _check_own(path: str) -> None:
    handle = os.open(path, FOLDER)
    try:
        found = os.fstat(handle)
    finally:
        os.close(handle)
    if found.st_uid != os.geteuid():
        raise OSError(errno.EPERM, "it is another user's", path)
    if found.st_mode & 0o077:
        raise OSError(errno.EPERM, "it is open to other users", path)


def _lock_part(part: str) -> int | None:
    """A descriptor with the lock of folder ``part``; None if the job that had it before
    is ready. Raises OSError."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, 0o700)
    try:
        handle = os.open(part, FOLDER)
    except FileNotFoundError:
        return None
    return handle if _is_locked(part, handle, fcntl.LOCK_EX) else None


def _is_locked(folder: str, handle: int, kind: int) -> bool:
    """Lock the open ``folder``; closes it, and says so, if it has lost its name. Raises
    OSError."""
    try:
        await_lock(handle, _PATIENCE, _PAUSE, kind=kind)
        if is_same_folder(folder, handle):
            return True
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return False
