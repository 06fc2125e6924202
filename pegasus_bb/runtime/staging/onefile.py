"""Copies a file so that its name never refers to a partial copy.

The copy appears under its name complete and durable (temporary name in the same folder,
fsync, rename, fsync of the folder) or not at all. A source that changes during the copy
is refused. A link at the destination is replaced, never written through. Links in the
source path are followed; mode bits are kept; holes stay holes. Times, extended
attributes and ACLs are not copied: a scratch might purge a copy as old as its source at
once. A FIFO, socket or device is refused. folder.py copies folders, folder_links.py
their links.
"""

from __future__ import annotations

import os
import stat
import time

from pegasus_bb.core.files import sync_directory
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.refusals import MODE, keep_mode, original_mode, warn_refused
from pegasus_bb.runtime.staging.digests import SHA256, Digest, is_by_blocks
from pegasus_bb.runtime.staging.failures import (
    CopyFailed,
    explained,
    not_a_file,
    on_a_line,
)
from pegasus_bb.runtime.staging.hints import set_hint
from pegasus_bb.runtime.staging.moves import Tell
from pegasus_bb.runtime.staging.parts import part_name, path_of_copy
from pegasus_bb.runtime.staging.pour import Poured, ignore_progress, is_sparse, pour
from pegasus_bb.runtime.staging.writing import DEFAULT_WRITING, Writing

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # do not wait for a FIFO
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
    *,
    digest: bool = True,
    writing: Writing = DEFAULT_WRITING,
) -> Copied:
    """Copy regular file ``source`` to ``dest``, complete and durable.

    If both are the same file (device and inode), nothing is written. Raises CopyFailed;
    ``dest`` is then unchanged.
    """
    why = ""
    for _ in range(TRIES):
        try:
            return _copy_once(source, dest, digest=digest, writing=writing)
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


def digest_file(path: str, like: str = "") -> str:
    """``sha256:...`` of a file's bytes; of the same kind as digest ``like``, if that is
    given. Raises OSError, CopyFailed."""
    handle = open_source(path)
    try:
        from pegasus_bb.runtime.staging.hashing import (
            has_huge_holes,
            hash_blocks,
            hash_of,
        )

        status = os.fstat(handle)
        size = status.st_size
        sparse = is_sparse(status)
        huge = (
            is_by_blocks(like) if like else has_huge_holes(handle, size, sparse=sparse)
        )
        if huge:
            return hash_blocks(handle, size, SHA256)
        return hash_of(handle, size, sparse=sparse, digest=SHA256)
    finally:
        os.close(handle)


def open_source(path: str, folder: int | None = None, *, follow: bool = True) -> int:
    """A descriptor of regular file ``path``. Raises OSError, CopyFailed."""
    handle = os.open(path, _READ if follow else _READ | os.O_NOFOLLOW, dir_fd=folder)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise not_a_file(path)


def settled_stat(handle: int) -> os.stat_result:
    """The stat of an open file, taken when its last change is at least SETTLE ago.

    A write sets the time before its bytes are there, and that time has a resolution of
    some milliseconds: a file read within that interval would look unchanged later.
    """
    status = os.fstat(handle)
    age = time.time() - status.st_ctime
    if abs(age) >= SETTLE:  # abs: the clock of a file server may differ
        return status
    time.sleep(SETTLE - age)
    return os.fstat(handle)


def copy_into(
    source: int,
    before: os.stat_result,
    part: str,
    *,
    digest: Digest | None,
    folder: int | None = None,
    durable: bool = True,
    tell: Tell = ignore_progress,
    writing: Writing = DEFAULT_WRITING,
) -> Poured:
    """Copy open file ``source`` into the new file ``part`` of ``folder``.

    Raises OSError, Changed; ``part`` is removed then.
    """
    mode = original_mode(before.st_mode)
    out = os.open(part, _WRITE, mode | 0o200, dir_fd=folder)  # as _small.c does
    try:
        try:
            set_hint(out, writing.hint)
            size = before.st_size
            sparse = is_sparse(before)
            poured = pour(
                source,
                out,
                size,
                sparse=sparse,
                digest=digest,
                tell=tell,
                segments=writing.segments,
            )
            check_unchanged(source, before, poured.size)
            refusal = keep_mode(out, mode)
            if refusal is not None:
                warn_refused(MODE, path_of_copy(out), refusal)
            if durable:
                os.fsync(out)
        finally:
            os.close(out)
    except BaseException:
        os.unlink(part, dir_fd=folder)
        raise
    return poured


def check_unchanged(source: int, before: os.stat_result, copied: int) -> None:
    """Raises Changed if the size or a time of the open file has changed."""
    compare(before, os.fstat(source))
    if copied != before.st_size:
        raise Changed(f"{copied} bytes read of {before.st_size}")
    if os.pread(source, 1, copied):
        raise Changed("it grew")


def compare(before: os.stat_result, now: os.stat_result) -> None:
    """Raises Changed if the two are not of one file in one state."""
    for what in ("st_ino", "st_dev", "st_size", "st_mtime_ns", "st_ctime_ns"):
        if getattr(now, what) != getattr(before, what):
            raise Changed(what[3:])


def _copy_once(source: str, dest: str, *, digest: bool, writing: Writing) -> Copied:
    handle = open_source(source)
    try:
        before = settled_stat(handle)
        already = same_file(before, dest)
        if already is not None:
            text = digest_file(source) if digest else ""
            return Copied(already.st_size, text, already)
        part = part_name(dest)
        wanted = SHA256 if digest else None
        poured = copy_into(handle, before, part, digest=wanted, writing=writing)
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


def same_file(source: os.stat_result, dest: str) -> os.stat_result | None:
    """The stat of ``dest`` if it is the file ``source``, and not a link to it."""
    try:
        status = os.lstat(dest)
    except OSError:
        return None
    same = (status.st_dev, status.st_ino) == (source.st_dev, source.st_ino)
    return status if same else None
