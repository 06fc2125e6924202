"""Copy a file so that its name never stands for half of it.

What is promised: the copy appears under its name whole and durable (temporary name in
the same folder, fsync, rename, fsync of the folder) or not at all. A source that
changes meanwhile is refused. A link in the place of the copy is replaced, never written
through. Links in the source path are followed; mode bits are kept; holes stay holes;
times, extended attributes and ACLs are not carried (a file as old as its source might
be purged from a scratch at once). A FIFO, socket or device is refused. A folder is
copied with all that is in it (folder.py); its links: folderlinks.py.
"""

from __future__ import annotations

import os
import stat
import time
from typing import NamedTuple, Optional

from pegasus_bb.files import sync_directory
from pegasus_bb.staging.digests import SHA256, Digest
from pegasus_bb.staging.failures import CopyFailed, explained, not_a_file, on_a_line
from pegasus_bb.staging.hints import set_hint
from pegasus_bb.staging.moves import Tell
from pegasus_bb.staging.parts import part_name
from pegasus_bb.staging.pour import Poured, ignore_progress, is_hollow, pour
from pegasus_bb.staging.writing import PLAINLY, Writing

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO must not be waited for
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
TRIES = 2
SETTLE = 0.05  # seconds; _small.c has the same


class Copied(NamedTuple):
    size: int  # bytes
    digest: str  # sha256:..., or "" if not asked for
    stat: os.stat_result  # of the copy


class Changed(Exception):
    """The source is not what it was when the copy began."""


def copy_file(
    source: str,
    dest: str,
    digest: bool = True,
    writing: Writing = PLAINLY,
) -> Copied:
    """Copy the content of regular file ``source`` to ``dest``, whole and durable.

    Where both are one file (same device and inode) nothing is written. Raises
    CopyFailed; ``dest`` is then as it was.
    """
    why = ""
    for _ in range(TRIES):
        try:
            return _copy_once(source, dest, digest, writing)
        except Changed as error:
            why = str(error)
        except OSError as error:
            raise explained(error, source, dest) from error
    raise still_changing(source, why)


def still_changing(source: str, why: str) -> CopyFailed:
    return CopyFailed(
        f"{on_a_line(source)}: it changed while it was copied ({why}), twice; "
        "something still writes it"
    )


def digest_file(path: str) -> str:
    """``sha256:...`` of a file's bytes. Raises OSError, CopyFailed."""
    handle = open_source(path)
    try:
        from pegasus_bb.staging.hashing import hash_of

        found = os.fstat(handle)
        return hash_of(handle, found.st_size, is_hollow(found), SHA256)
    finally:
        os.close(handle)


def open_source(path: str, folder: Optional[int] = None, follow: bool = True) -> int:
    """A descriptor of regular file ``path``. Raises OSError, CopyFailed."""
    handle = os.open(path, _READ if follow else _READ | os.O_NOFOLLOW, dir_fd=folder)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise not_a_file(path)


def settled(handle: int) -> os.stat_result:
    """What the open file is, when its last change is no longer of just now.

    The time of a write is set before its bytes are there, and on most systems goes by
    steps of some milliseconds: a file read in that moment would look unchanged later.
    """
    found = os.fstat(handle)
    age = time.time() - found.st_ctime
    if abs(age) >= SETTLE:  # also where the clock of its server is another
        return found
    time.sleep(SETTLE - age)
    return os.fstat(handle)


def copy_into(
    source: int,
    before: os.stat_result,
    part: str,
    digest: Optional[Digest],
    folder: Optional[int] = None,
    durable: bool = True,
    tell: Tell = ignore_progress,
    writing: Writing = PLAINLY,
) -> Poured:
    """Copy open file ``source`` into the new file ``part`` of ``folder``.

    Raises OSError, Changed; ``part`` is removed then.
    """
    mode = stat.S_IMODE(before.st_mode) & 0o777
    out = os.open(part, _WRITE, 0o600, dir_fd=folder)
    try:
        try:
            set_hint(out, writing.hint)
            size, hollow = before.st_size, is_hollow(before)
            poured = pour(source, out, size, hollow, digest, tell, writing.segments)
            check_unchanged(source, before, poured.size)
            os.fchmod(out, mode)
            if durable:
                os.fsync(out)
        finally:
            os.close(out)
    except BaseException:
        os.unlink(part, dir_fd=folder)
        raise
    return poured


def check_unchanged(source: int, before: os.stat_result, copied: int) -> None:
    """Raises Changed where the open file is of another size or time than before."""
    compare(before, os.fstat(source))
    if copied != before.st_size:
        raise Changed(f"{copied} bytes read of {before.st_size}")
    if os.pread(source, 1, copied):
        raise Changed("it grew")


def compare(before: os.stat_result, now: os.stat_result) -> None:
    """Raises Changed where these are not of one file in one state."""
    for what in ("st_ino", "st_dev", "st_size", "st_mtime_ns", "st_ctime_ns"):
        if getattr(now, what) != getattr(before, what):
            raise Changed(what[3:])


def _copy_once(source: str, dest: str, digest: bool, writing: Writing) -> Copied:
    handle = open_source(source)
    try:
        before = settled(handle)
        already = same_file(before, dest)
        if already is not None:
            words = digest_file(source) if digest else ""
            return Copied(already.st_size, words, already)
        part = part_name(dest)
        wanted = SHA256 if digest else None
        poured = copy_into(handle, before, part, wanted, writing=writing)
    finally:
        os.close(handle)
    try:
        compare(before, os.stat(source))
        os.replace(part, dest)
    except BaseException:
        os.unlink(part)
        raise
    sync_directory(os.path.dirname(dest) or ".")
    return Copied(poured.size, poured.digest, os.lstat(dest))


def same_file(source: os.stat_result, dest: str) -> Optional[os.stat_result]:
    """``dest``'s stat where it is ``source`` itself; a link to it is not."""
    try:
        found = os.lstat(dest)
    except OSError:
        return None
    same = (found.st_dev, found.st_ino) == (source.st_dev, source.st_ino)
    return found if same else None
