"""Empty a folder without ever leaving it: no link is followed, no depth is too deep.

Every folder that is met is moved up into the top one before it is looked into. So two
descriptors do for any tree, a path cannot get too long, and a crash leaves a tree
that the next call goes on with. A folder of another user becomes ours first, where we
may do that: his processes that have it open would make names faster than we unlink.
"""

from __future__ import annotations

import os
import stat
import time

from pegasus_bb.core.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW
_BATCH = 1000  # names in memory at a time: folders can hold millions


class NotInTime(TimeoutError):
    """The deadline of the caller has passed; a file system has said nothing."""


def remove(path: str, deadline: float = float("inf")) -> None:
    """Remove ``path`` and all below it; absent is fine.

    Goes on until ``deadline`` (time.monotonic). Raises NotInTime then, and the next
    call goes on; OSError with the full path of what cannot be removed.
    """
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
        folder = _open(None, path)
        try:
            empty(folder, "", deadline)
        finally:
            os.close(folder)
        os.rmdir(path)
    except FileNotFoundError:
        if os.path.lexists(path):
            raise


def empty(top: int, keep: str, deadline: float) -> None:
    """Remove all in the open folder ``top`` except its file ``keep``.

    Goes on until ``deadline`` (time.monotonic). Raises NotInTime then, OSError
    where something cannot be removed.
    """
    while True:
        names = [name for name in _some_names(top, _BATCH + 1) if name != keep]
        if not names:
            return
        for name in names:
            _remove(top, name, deadline)


def _remove(top: int, name: str, deadline: float) -> None:
    if time.monotonic() > deadline:
        raise NotInTime("not emptied in time")
    try:
        if not _is_folder(top, name):
            os.unlink(name, dir_fd=top)
            return
        folder = _open(top, name)
        try:
            for names in _batches(folder):
                for inner in names:
                    _lift(top, folder, inner, deadline)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=top)
    except OSError as error:
        _tell_where(error, top, name)
        raise


def _lift(top: int, folder: int, name: str, deadline: float) -> None:
    if time.monotonic() > deadline:
        raise NotInTime("not emptied in time")
    try:
        if not _is_folder(folder, name):
            os.unlink(name, dir_fd=folder)
            return
        os.close(_open(folder, name))  # a folder that we may not write cannot be moved
        os.rename(
            name, f".lifted-{os.urandom(16).hex()}", src_dir_fd=folder, dst_dir_fd=top
        )
    except OSError as error:
        _tell_where(error, folder, name)
        raise


def _tell_where(error: OSError, folder: int, name: str) -> None:
    """Let ``error`` name the full path: a name below a descriptor says nothing."""
    known = str(error.filename or "")
    if error.errno and (not os.path.isabs(known) or known.startswith("/proc/self/fd/")):
        where = os.readlink(f"/proc/self/fd/{folder}")
        error.filename = os.path.join(where, name)
        del error.filename2  # None would be printed as a name


def _is_folder(folder: int, name: str) -> bool:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return stat.S_ISDIR(found.st_mode)


def _open(parent: int | None, name: str) -> int:
    """Open folder ``name`` of ``parent``; a task may have taken our rights to it."""
    handle = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
    try:
        found = os.fstat(handle)
        lacks_rights = found.st_mode & stat.S_IRWXU != stat.S_IRWXU
        if _took(handle, found) or lacks_rights:
            os.chmod(f"/proc/self/fd/{handle}", stat.S_IRWXU)
        return os.open(".", os.O_RDONLY | _FOLDER, dir_fd=handle)
    finally:
        os.close(handle)


def _took(handle: int, found: os.stat_result) -> bool:
    """Whether a folder of another user is ours now. Who made it could undo any change
    of its mode."""
    me = os.geteuid()
    if found.st_uid == me:
        return me == 0 and stat.S_IMODE(found.st_mode) != stat.S_IRWXU
    try:
        os.chown(f"/proc/self/fd/{handle}", me, -1)
    except OSError:  # we are not root, or root is no one there
        return False
    return True


def _batches(folder: int) -> Iterator[list[str]]:
    while True:
        names = _some_names(folder, _BATCH)
        if not names:
            return
        yield names


def _some_names(folder: int, most: int) -> list[str]:
    names: list[str] = []
    # btrfs lists what was there when the folder was opened, or was last rewound.
    os.lseek(folder, 0, os.SEEK_SET)
    with os.scandir(folder) as entries:
        for entry in entries:
            names.append(entry.name)
            if len(names) == most:
                break
    return names
