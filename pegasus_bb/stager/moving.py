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
from pegasus_bb.stager.conversation import WorkerTask
from pegasus_bb.stager.open_task import OpenPlace, OpenTask

# The destination is a folder with things in it, or of another mount: a copy can do it.
_BY_COPY = (errno.EXDEV, errno.ENOTEMPTY, errno.EEXIST, errno.EINVAL)


def check_not_itself(source: OpenPlace, dest: OpenPlace) -> None:
    """Raises CopyFailed where a move would remove what it has just made."""
    if source.folder.is_same(dest.folder) and source.name == dest.name:
        raise CopyFailed(f"{source.path}: it is moved to itself")


def rename(opened: OpenTask) -> bool:
    """Give the source its new name, durably; False where only a copy can do it.

    Raises OSError.
    """
    _, source, dest, found = opened
    if found.st_dev != dest.folder.device:
        return False
    _sync(source, found)
    write_note(opened.task, found)
    sides = {"src_dir_fd": source.folder.fd, "dst_dir_fd": dest.folder.fd}
    try:
        os.rename(source.name, dest.name, **sides)
    except OSError as error:
        is_closed = stat.S_ISDIR(found.st_mode) and not found.st_mode & stat.S_IWUSR
        if error.errno in _BY_COPY or is_closed:  # its ".." cannot be written
            return False
        raise
    _remove_second_name(source, found)
    sync_folder(dest.folder.fd)
    sync_folder(source.folder.fd)
    return True


def write_note(task: WorkerTask, copy: os.stat_result) -> None:
    """From now on the source may be gone. Raises OSError."""
    write_json(note_path(task.state, task.id), _identity(copy))


def was_moved(task: WorkerTask, dest: OpenPlace) -> bool:
    """Whether an earlier try has moved the source to the destination."""
    try:
        noted: Any = read_json(note_path(task.state, task.id))
        return bool(noted == _identity(dest.lstat()))
    except (OSError, ValueError):
        return False


def note_path(state: str, number: int) -> str:
    """The note of task ``number``; ``state`` is its user's folder."""
    return f"{state}/{number}.moved"


def _identity(found: os.stat_result) -> Any:
    return [found.st_dev, found.st_ino]


def _sync(source: OpenPlace, found: os.stat_result) -> None:
    """Make durable what is renamed, as a copy would be."""
    if stat.S_ISDIR(found.st_mode):
        sync_file_system(source.folder.fd)
        return
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW
        handle = os.open(source.name, flags, dir_fd=source.folder.fd)
    except PermissionError:  # it may be moved, yet not read
        sync_file_system(source.folder.fd)
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_second_name(source: OpenPlace, found: os.stat_result) -> None:
    """rename does nothing where both names are of one file already."""
    try:
        now = source.lstat()
    except FileNotFoundError:
        return
    if os.path.samestat(now, found) and not stat.S_ISDIR(now.st_mode):
        source.unlink()
