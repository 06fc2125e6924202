"""A job's folder on the disk of its node, which no scheduler grants.

    <disk>/pegasus_bb.<host>.<name>.<try>     0700, locked while launch works

A folder that a killed launch has left is not locked. The next launch on the node
removes it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
from collections.abc import Iterator, Mapping

from pegasus_bb.core.errors import ReservationFailed
from pegasus_bb.core.paths import node_path
from pegasus_bb.core.units import format_size
from pegasus_bb.runtime.job_reservation.space import SharedInputs, check_one_node
from pegasus_bb.runtime.task import discard, tell

_PREFIX = "pegasus_bb."
_FULL = (errno.ENOSPC, errno.EDQUOT)
TAKEN = "this job has"  # before the bytes, in the words about a full disk
_LITTLE = 1 << 20  # bytes: a disk with less counts as full
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class TierFull(ReservationFailed):
    """The tier works, but has no space for this job."""


def is_full(error: Exception) -> bool:
    codes = {getattr(e, "errno", None) for e in (error, error.__cause__)}
    return isinstance(error, TierFull) or not codes.isdisjoint(_FULL)


@contextlib.contextmanager
def on_the_disk(
    settings: Mapping[str, str],
    name: str,
    need: int,
    environ: dict[str, str],
    shared: SharedInputs,
) -> Iterator[str]:
    """A new folder for one try, with ``need`` bytes free, which is removed afterwards.
    What it has of its ``shared`` inputs needs no space.

    Raises TierFull, and ReservationFailed if this node has no such disk.
    """
    check_one_node(environ)
    disk = disk_of(settings, environ)
    for left in job_folders(disk):
        remove_unlocked(left)
    need -= shared.size
    shared.free(need)
    _check_free(disk, need)
    folder = os.path.join(disk, f"{_of_this_host()}{name}")
    lock = _make_locked(folder)
    try:
        yield folder
        _tell_if_full(disk, folder)
    finally:
        discard(folder)
        os.close(lock)


def disk_of(settings: Mapping[str, str], environ: dict[str, str]) -> str:
    """The tier's ``path`` in this job. Raises ReservationFailed.

    The folder is never made: without its disk it would be in the memory of the node, or
    on its system disk.
    """
    path = settings.get("path", "")
    try:
        disk = node_path(path, environ)
    except ValueError as error:
        raise _no_disk(f"path {path}: {error}") from None
    if not os.path.isdir(disk):
        raise _no_disk(f"{disk} (path {path}) is no folder")
    required = settings.get("mount", "required") != "any"
    if required and os.stat(disk).st_dev == os.stat("/").st_dev:
        raise _no_disk(
            f"{disk} (path {path}) is on the node's root file system: no disk of its "
            "own is mounted there; `mount: any` for the tier where that is meant"
        )
    return disk


def _no_disk(message: str) -> ReservationFailed:
    return ReservationFailed(f"no node-local disk on {socket.gethostname()}: {message}")


def _check_free(disk: str, need: int) -> None:
    free, files = _free(disk)
    if not files:
        raise TierFull(f"{disk} on {socket.gethostname()} has no inode free")
    if free < need:
        raise TierFull(
            f"{disk} on {socket.gethostname()} has {format_size(free)} free, and this "
            f"job needs {format_size(need)}"
        )


def free_bytes(disk: str) -> int:
    return _free(disk)[0]


def _free(disk: str) -> tuple[int, bool]:
    status = os.statvfs(disk)
    inodes = bool(status.f_favail or not status.f_files)
    return status.f_bavail * status.f_frsize, inodes


def _tell_if_full(disk: str, folder: str) -> None:
    """Report a full disk, since a task that fills it may not do so; and how much of it
    the job itself has, in ``folder``."""
    free, files = _free(disk)
    if free < _LITTLE or not files:
        from pegasus_bb.runtime.job_reservation.temporary_files import size_of

        tell(
            f"{disk} on {socket.gethostname()} is full: {format_size(free)} "
            f"and {'no inode' if not files else 'inodes'} free when the task had "
            f"ended; {TAKEN} {size_of(folder)} bytes of it"
        )


def _make_locked(folder: str) -> int:
    """Make ``folder``; returns a descriptor with its lock. Raises ReservationFailed."""
    while True:
        try:
            os.mkdir(folder, 0o700)
        except OSError as error:
            if is_full(error):
                raise TierFull(f"{folder}: {error.strerror}") from error
            raise _no_disk(f"{folder}: {error.strerror}") from error
        lock = lock_new(folder)
        if lock is not None:
            return lock


def lock_new(folder: str) -> int | None:
    """A descriptor with the lock of ``folder``, just made. None if it is gone by then:
    before it is locked, another process may think it left over, and remove it."""
    try:
        lock = os.open(folder, FOLDER)
    except FileNotFoundError:
        return None
    with contextlib.suppress(OSError):  # without locks nothing is removed
        fcntl.flock(lock, fcntl.LOCK_EX)
    if is_same_folder(folder, lock):
        return lock
    os.close(lock)
    return None


def is_same_folder(folder: str, handle: int) -> bool:
    try:
        return os.path.samestat(os.lstat(folder), os.fstat(handle))
    except FileNotFoundError:
        return False


def _of_this_host() -> str:
    return f"{_PREFIX}{socket.gethostname()}."


def job_folders(disk: str) -> list[str]:
    """The folders of jobs of this host, of any user."""
    ours = _of_this_host()
    try:
        names = [name for name in os.listdir(disk) if name.startswith(ours)]
    except OSError:  # a folder that users may write but not list
        return []
    return [os.path.join(disk, name) for name in names]


def remove_unlocked(folder: str) -> bool:
    """Remove ``folder``; whether it is gone. It stays if another process has its lock,
    or if it is not ours."""
    lock = free_lock(folder)
    if lock is None:
        return False
    try:
        if is_same_folder(folder, lock):
            discard(folder)
        return True
    finally:
        os.close(lock)


def is_unlocked(folder: str) -> bool:
    """Whether ``remove_unlocked`` would remove it."""
    lock = free_lock(folder)
    if lock is not None:
        os.close(lock)
    return lock is not None


def free_lock(folder: str) -> int | None:
    """A descriptor with the lock of ``folder``; None if another process has the lock,
    or if the folder is not ours."""
    try:
        lock = os.open(folder, FOLDER)
    except OSError:
        return None
    try:
        if os.fstat(lock).st_uid == os.getuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
    except OSError:
        pass
    os.close(lock)
    return None
