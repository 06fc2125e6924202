"""What is in a watched folder now, and what would show that it has changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from pegasus_bb.runtime.staging.failures import on_a_line
from pegasus_bb.runtime.staging.items import stamp

Version = tuple[int, ...]  # of a file: device, inode, times and size
Say = Callable[[str], None]
Found = dict[str, tuple[Version, int]]  # path below the folder -> version, bytes


def version_of(found: os.stat_result) -> Version:
    """Another one after every write, whatever a program does to the times."""
    return (*stamp(found), found.st_size)


def scan(folder: str, say: Say) -> Found:
    """The files and links below ``folder``. ``say`` hears of what cannot be looked at.

    What vanishes meanwhile is left out, and so is all else that is no regular file.
    """
    found: Found = {}

    def failed(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            where = on_a_line(os.fsdecode(error.filename or folder))
            say(f"{where}: cannot be looked at ({error.strerror}), so it is left alone")

    for parent, folders, names in os.walk(folder, onerror=failed):
        for name in (*names, *folders):
            path = os.path.join(parent, name)
            state = _state(path, failed)
            if state is not None and _may_be_copied(state):
                below = path[len(folder.rstrip("/")) + 1 :]
                found[below] = version_of(state), state.st_size
    return found


def _may_be_copied(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)


def _state(path: str, failed: Callable[[OSError], None]) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError as error:
        failed(error)
        return None
