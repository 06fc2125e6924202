"""Copy a file so that its name never stands for half of it.

What is promised: the copy appears under its name whole and durable (temporary name in
the same folder, fsync, rename, fsync of the folder) or not at all. A source that
changes meanwhile is refused. A link in the place of the copy is replaced, never written
through. Links in the source path are followed; mode bits are kept; holes stay holes;
extended attributes and ACLs are not carried. A FIFO, socket or device is refused. A
folder is copied with all that is in it (copytree.py); its links: copylinks.py.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from typing import Any, Dict, List, NamedTuple, Optional

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.runtime.files import sync_directory
from pegasus_bb.units import format_size

CHUNK = 1 << 20
_ZEROS = bytes(CHUNK)
_NAME_MAX = 255
_PART = re.compile(rb"\.(.*)\.([0-9]+)\.[0-9a-f]{6}\.part", re.DOTALL)


class CopyFailed(PegasusBBError):
    """A file did not arrive; its destination is as it was before."""


class Copied(NamedTuple):
    """What arrived."""

    size: int  # bytes
    digest: str  # sha256:..., or "" where nobody asked
    stat: os.stat_result  # of the copy


class _Changed(Exception):
    """The source is not what it was when the copy began."""


def copy_file(source: str, dest: str, digest: bool = True) -> Copied:
    """Copy the content of regular file ``source`` to ``dest``, whole and durable.

    Where both are one file (same device and inode) nothing is written. Raises
    CopyFailed; ``dest`` is then as it was.
    """
    for attempt in (1, 2):
        try:
            return _copy_once(source, dest, digest)
        except _Changed as error:
            if attempt == 2:
                raise CopyFailed(
                    f"{source}: it changed while it was copied ({error}), twice; "
                    "something still writes it"
                ) from None
        except OSError as error:
            raise explained(error, source, dest) from error
    raise AssertionError("not reached")


def digest_file(path: str) -> str:
    """``sha256:...`` of a file's bytes. Raises OSError, CopyFailed."""
    # O_NONBLOCK: a FIFO must be refused, not waited for.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb", buffering=0) as source:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise not_a_file(path)
        hasher = _new_hash()
        for chunk in iter(lambda: source.read(CHUNK), b""):
            hasher.update(chunk)
    return "sha256:" + str(hasher.hexdigest())


def not_a_file(path: str) -> CopyFailed:
    """The refusal of a FIFO, a socket or a device."""
    return CopyFailed(
        f"{path}: not a regular file, nor a folder or a link, so it is neither copied "
        "nor read; move it away"
    )


def remove_tree(path: str) -> None:
    """Remove ``path`` and all below it; follows no link. Absent is fine.

    Folders that a task took our rights to go as well. Raises OSError.
    """
    from pegasus_bb.reservation.removal import remove  # most jobs remove nothing

    remove(path)


def part_name(dest: str) -> str:
    """A temporary name beside ``dest``; short enough where the name itself is not."""
    tail = f".{os.getpid()}.{os.urandom(3).hex()}.part"
    name = os.fsdecode(cut_name(dest))
    return os.path.join(os.path.dirname(dest), f".{name}{tail}")


def cut_name(dest: str) -> bytes:
    """The name of ``dest``, no longer than leaves room for what a part adds."""
    return os.fsencode(os.path.basename(dest))[: _NAME_MAX - 30]


def parts_in(folder: str) -> Dict[bytes, List[str]]:
    """What killed copies left in ``folder``: (cut) name of the file -> paths."""
    found: Dict[bytes, List[str]] = {}
    own = str(os.getpid()).encode()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                match = _PART.fullmatch(os.fsencode(entry.name))
                if match and match.group(2) != own:
                    found.setdefault(match.group(1), []).append(entry.path)
    except FileNotFoundError:
        pass
    return found


def explained(error: OSError, source: str, dest: str) -> CopyFailed:
    """``error`` for a person: which file, what it needs, what would do."""
    words = f"{source} -> {dest}: {error.strerror or error}"
    at = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
    if at not in ("", source, dest):
        words += f" ({at})"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        words += f"; it needs {_size_of(source)}, {_room_at(dest)}"
    elif error.errno == errno.EROFS:
        words += "; the file system takes no more writes. Nothing was lost: the source "
        words += "is untouched"
    elif error.errno == errno.EIO:
        words += "; the storage itself fails. The source was kept"
    return CopyFailed(words)


def _size_of(path: str) -> str:
    try:
        return format_size(os.stat(path).st_size)
    except OSError:
        return "an unknown size"


def _room_at(dest: str) -> str:
    try:
        room = os.statvfs(os.path.dirname(dest) or ".")
    except OSError:
        return f"{os.path.dirname(dest)} cannot be read"
    free = format_size(room.f_bavail * room.f_frsize)
    return f"{os.path.dirname(dest)} has {free} free (a quota may allow less)"


def _new_hash() -> Any:
    import hashlib

    return hashlib.sha256()


def _copy_once(source: str, dest: str, digest: bool) -> Copied:
    # O_NONBLOCK: a FIFO must be refused, not waited for.
    handle = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            raise not_a_file(source)
        already = _same_file(before, dest)
        if already is not None:
            return Copied(
                already.st_size, digest_file(source) if digest else "", already
            )
        return _into_part(handle, before, source, dest, digest)
    finally:
        os.close(handle)


def _same_file(source: os.stat_result, dest: str) -> Optional[os.stat_result]:
    """``dest``'s stat where it is ``source`` itself; a link to it is not."""
    try:
        found = os.lstat(dest)
    except OSError:
        return None
    same = (found.st_dev, found.st_ino) == (source.st_dev, source.st_ino)
    return found if same else None


def _into_part(
    handle: int, before: os.stat_result, source: str, dest: str, digest: bool
) -> Copied:
    part = part_name(dest)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    out = os.open(part, flags, 0o600)
    try:
        try:
            hasher = _new_hash() if digest else None
            copied = _pour(handle, out, before, hasher)
            _check_unchanged(handle, before, source, copied)
            os.fchmod(out, stat.S_IMODE(before.st_mode) & 0o777)
            os.fsync(out)
        finally:
            os.close(out)
        os.replace(part, dest)
    except BaseException:
        os.unlink(part)
        raise
    sync_directory(os.path.dirname(dest) or ".")
    words = f"sha256:{hasher.hexdigest()}" if hasher else ""
    return Copied(copied, words, os.lstat(dest))


def _pour(handle: int, out: int, before: os.stat_result, hasher: Any) -> int:
    """Bytes read from ``handle``, all of them now in ``out``."""
    hollow = before.st_blocks * 512 < before.st_size
    total = 0
    while True:
        chunk = os.read(handle, CHUNK)
        if not chunk:
            break
        if hasher is not None:
            hasher.update(chunk)
        total += len(chunk)
        if hollow and chunk == _ZEROS[: len(chunk)]:
            os.lseek(out, len(chunk), os.SEEK_CUR)
            continue
        view = memoryview(chunk)
        while view:
            view = view[os.write(out, view) :]
    if hollow:
        os.ftruncate(out, total)
    return total


def _check_unchanged(
    handle: int, before: os.stat_result, source: str, copied: int
) -> None:
    """Raises _Changed where ``source`` is another file, size or time than before."""
    for now in (os.fstat(handle), os.stat(source)):
        for what in ("st_ino", "st_dev", "st_size", "st_mtime_ns"):
            if getattr(now, what) != getattr(before, what):
                raise _Changed(what[3:])
    if copied != before.st_size:
        raise _Changed(f"{copied} bytes read of {before.st_size}")
