"""Why a file was not copied, for a person."""

from __future__ import annotations

import errno
import os

from pegasus_bb.core.errors import NOT_COPIED, PegasusBBError
from pegasus_bb.core.units import format_size


class CopyFailed(PegasusBBError):
    """A file was not copied; its destination is unchanged."""

    exit_code = NOT_COPIED


def not_a_file(path: str) -> CopyFailed:
    return CopyFailed(
        f"{on_a_line(path)}: not a regular file, nor a folder or a link, so it is "
        "neither copied nor read; move it away"
    )


def missing_since(folder: str, when: str) -> str:
    """A message if ``folder``, which was there ``when``, is not; else empty. One that
    were made again would be hidden when its file system is back."""
    if os.path.isdir(folder):
        return ""
    return (
        f"{on_a_line(folder)}: was there {when}, and is not any more: is its file "
        "system mounted? If the folder was removed, make it again"
    )


def check_is_there(folder: str, when: str) -> None:
    """Raises CopyFailed if ``folder``, which was there ``when``, is not."""
    fault = missing_since(folder, when)
    if fault:
        raise CopyFailed(fault)


def of_another_size(dest: str) -> CopyFailed:
    """The error for a copy whose size differs from the bytes written."""
    return CopyFailed(
        f"{on_a_line(dest)}: has not the size of what was written to it: something "
        "else writes it, or the storage fails; copy it again"
    )


def explained(error: OSError, source: str, dest: str) -> CopyFailed:
    """``error`` as text: the file, the space that it needs, the remedy."""
    message = f"{on_a_line(source)} -> {on_a_line(dest)}: {error.strerror or error}"
    at = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
    if os.path.isabs(at) and at not in (source, dest):
        message += f" ({on_a_line(at)})"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        message += f"; it needs {_size_of(source)}, {_room_at(dest)}"
    elif error.errno == errno.EROFS:
        message += (
            "; the file system takes no more writes. Nothing was lost: the source "
        )
        message += "is untouched"
    elif error.errno in (errno.ENOTDIR, errno.EISDIR) and os.path.lexists(dest):
        message += f"; at the destination is {_kind_of(dest)}: move it away"
    elif error.errno == errno.EIO:
        message += "; the storage itself fails. The source was kept"
    return CopyFailed(message)


def on_a_line(path: str) -> str:
    """``path`` as printable text on one line."""
    return path if path.isprintable() else repr(path)


def _kind_of(path: str) -> str:
    if os.path.islink(path):
        return "a link"
    return "a folder" if os.path.isdir(path) else "a file"


def _size_of(path: str) -> str:
    try:
        return format_size(os.stat(path).st_size)
    except OSError:
        return "an unknown size"


def _room_at(dest: str) -> str:
    path = os.path.dirname(dest) or "."
    folder = on_a_line(path)
    try:
        room = os.statvfs(path)
    except OSError:
        return f"{folder} cannot be read"
    if room.f_files and not room.f_favail:
        return f"{folder} has no inode free: it takes no more files, of whatever size"
    free = format_size(room.f_bavail * room.f_frsize)
    return f"{folder} has {free} free (a quota may allow less)"
