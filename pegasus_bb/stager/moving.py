"""A move: a rename where one file system has both ends; else a copy, then a removal.

Before the source goes, a note says which file is to be at the destination. So a try
that finds no source can tell a move that was killed at its end from a wrong name.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Any

from pegasus_bb.core.files import read_json, write_json
from pegasus_bb.core.refusals import sync_folder
from pegasus_bb.runtime.staging.durable import sync_file_system
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.items import Folder

# The destination is a folder with things in it, or of another mount: a copy can do it.
_BY_COPY = (errno.EXDEV, errno.ENOTEMPTY, errno.EEXIST, errno.EINVAL)


def check_not_itself(source: Folder, name: str, dest: Folder, as_name: str) -> None:
    """Raises CopyFailed where a move would remove what it has just made."""
    if source.is_same(dest) and name == as_name:
        raise CopyFailed(f"{source.at(name)}: it is moved to itself")


def rename(
    task: dict[str, Any],
    source: Folder,
    name: str,
    dest: Folder,
    as_name: str,
    *,
    found: os.stat_result,
) -> bool:
    """Give ``name`` its new name, durably; False where only a copy can do it.

    Raises OSError.
    """
    if found.st_dev != dest.device:
        return False
    _sync(source, name, found)
    write_note(task, found)
    try:
        os.rename(name, as_name, src_dir_fd=source.fd, dst_dir_fd=dest.fd)
    except OSError as error:
        is_closed = stat.S_ISDIR(found.st_mode) and not found.st_mode & stat.S_IWUSR
        if error.errno in _BY_COPY or is_closed:  # its ".." cannot be written
            return False
        raise
    _remove_second_name(source, name, found)
    sync_folder(dest.fd)
    sync_folder(source.fd)
    return True


def write_note(task: dict[str, Any], copy: os.stat_result) -> None:
    """From now on the source may be gone. Raises OSError."""
    write_json(note_path(task["state"], task["id"]), _identity(copy))


def moved_earlier(
    task: dict[str, Any], dest: Folder, as_name: str
) -> os.stat_result | None:
    """Return what is at the destination, where an earlier try has moved it there."""
    try:
        noted = read_json(note_path(task["state"], task["id"]))
        found = os.stat(as_name, dir_fd=dest.fd, follow_symlinks=False)
    except (OSError, ValueError):
        return None
    return found if noted == _identity(found) else None


def note_path(state: str, number: int) -> str:
    """The note of task ``number``; ``state`` is its user's folder."""
    return f"{state}/{number}.moved"


def _identity(found: os.stat_result) -> Any:
    return [found.st_dev, found.st_ino]


def _sync(source: Folder, name: str, found: os.stat_result) -> None:
    """Make durable what is renamed, as a copy would be."""
    if stat.S_ISDIR(found.st_mode):
        sync_file_system(source.fd)
        return
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=source.fd)
    except PermissionError:  # it may be moved, yet not read
        sync_file_system(source.fd)
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_second_name(source: Folder, name: str, found: os.stat_result) -> None:
    """rename does nothing where both names are of one file already."""
    try:
        now = os.stat(name, dir_fd=source.fd, follow_symlinks=False)
    except FileNotFoundError:
        return
    if _identity(now) == _identity(found) and not stat.S_ISDIR(now.st_mode):
        os.unlink(name, dir_fd=source.fd)
