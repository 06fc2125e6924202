"""What a file system may refuse without a loss: modes, links, syncs of folders.

GPFS, ZFS, SMB, vfat and mounts of object stores refuse some of these. The bytes of a
file matter more: they arrive, and a warning says once what was not kept. Standard
library only and Python 3.9: this file travels to compute nodes.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from pegasus_bb.core.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Optional

    Refusal = Optional[OSError]

# A folder of such a file system has nothing to sync.
_NO_SYNC = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)

MODE = "mode"
HARD_LINK = "hard link"
SYMBOLIC_LINK = "symbolic link"
_MESSAGES = {
    MODE: "its mode bits were not set",
    HARD_LINK: "is a file of its own, and not another name of one file",
    SYMBOLIC_LINK: "is a copy of what its link leads to",
}


class _Warnings:
    """Says each kind of refusal once; a worker of the staging service has its own
    ``say``."""

    def __init__(self) -> None:
        self.said: set[str] = set()
        self.say: Callable[[str], None] = _print


def _print(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr, flush=True)


WARNINGS = _Warnings()


def warn_refused(kind: str, path: str, error: OSError) -> None:
    """Say that the file system has refused to keep ``kind`` of ``path``."""
    if kind in WARNINGS.said:
        return
    WARNINGS.said.add(kind)
    where = path if path.isprintable() else repr(path)
    WARNINGS.say(
        f"{where}: {_MESSAGES[kind]}: its file system refuses that "
        f"({error.strerror}). Others there may be the same; this is said once"
    )


def keep_mode(handle: int | str, mode: int, path: str = "") -> Refusal:
    """As ``set_mode`` for the bits 0777; set-gid and sticky stay."""
    return set_mode(handle, _mode_of(handle) & 0o7000 | mode & 0o777, path)


def set_mode(handle: int | str, mode: int, path: str = "") -> Refusal:
    """Give a file or folder ``mode``; returns the refusal, which is also said if
    ``path`` is given. Nothing is asked of the file system if the file has that mode.
    Raises OSError if there is no such file."""
    if _mode_of(handle) == mode:
        return None
    try:
        os.chmod(handle, mode)
    except OSError as error:
        if path:
            warn_refused(MODE, path, error)
        return error
    return None


def _mode_of(handle: int | str) -> int:
    return stat.S_IMODE(os.stat(handle).st_mode)


_CLOSED = stat.S_ISVTX  # on a file: its owner's right to write is taken, for now


def close_to_writing(path: str, mode: int) -> None:
    """Take the owner's right to write from the file ``path``, whose mode is ``mode``.
    Copies get it back (``original_mode``). Ignored where the file system, or another
    owner, refuses it."""
    if mode & stat.S_IWUSR:
        try:
            os.chmod(path, stat.S_IMODE(mode) & ~stat.S_IWUSR | _CLOSED)
        except OSError:
            pass


def original_mode(mode: int) -> int:
    """The bits 0777 of a file as its maker left them."""
    return mode & 0o777 | (stat.S_IWUSR if mode & _CLOSED else 0)


def sync_folder(handle: int) -> None:
    """Make the entries of an open folder durable. Raises OSError, but not where the
    file system has no such sync."""
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
