"""Copies an open file into an empty one, as a reflink if the file system can do it.

Else the bytes are moved (moves.py), and read for a digest (hashing.py).
"""

from __future__ import annotations

import errno
import os

from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.runtime.staging.digests import Digest
from pegasus_bb.runtime.staging.moves import CHUNK, Tell, move_all
from pegasus_bb.runtime.staging.segments import Segments

FICLONE = 0x40049409  # linux/fs.h


class Poured(NamedTuple):
    size: int  # bytes, holes included
    digest: str  # such as sha256:..., or "" if not asked for


def ignore_progress(_: int) -> None:
    """The default `tell`, which shows no progress."""


def pour(
    source: int,
    out: int,
    size: int,
    *,
    sparse: bool,
    digest: Digest | None,
    tell: Tell = ignore_progress,
    segments: Segments | None = None,
) -> Poured:
    """Copy ``size`` bytes of open file ``source`` into the empty open file ``out``.

    Fewer are copied if the source ends earlier. A reflink writes nothing and needs no
    segment. Raises OSError.
    """
    if size == 0:
        return Poured(0, digest.text(digest.new()) if digest else "")
    cloned = _clone(source, out)
    if not (cloned or sparse):
        _check_room(out, size)

    def move() -> int:
        return move_all(source, out, size, sparse=sparse, tell=tell, segments=segments)

    if digest is None:
        if not cloned:
            return Poured(move(), "")
        tell(size)
        return Poured(os.fstat(out).st_size, "")
    from pegasus_bb.runtime.staging import hashing  # needs threads

    if hashing.has_huge_holes(source, size, sparse=sparse):
        moved = size if cloned else move()
        return Poured(moved, hashing.hash_blocks(source, size, digest))
    if not cloned:
        hashed = hashing.pour_hashed(
            source,
            out,
            size,
            sparse=sparse,
            digest=digest,
            tell=tell,
            segments=segments,
        )
        return Poured(*hashed)
    tell(size)
    return Poured(size, hashing.hash_of(source, size, sparse=sparse, digest=digest))


def is_sparse(status: os.stat_result) -> bool:
    return status.st_blocks * 512 < status.st_size


def _check_room(out: int, size: int) -> None:
    """Raises OSError for a file that cannot fit, before it fills the disk."""
    if size > CHUNK:
        disk = os.fstatvfs(out)
        if disk.f_blocks and disk.f_bavail * disk.f_frsize < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _clone(source: int, out: int) -> bool:
    import fcntl

    try:
        fcntl.ioctl(out, FICLONE, source)
    except OSError:  # another file system, or one without reflinks
        return False
    return True
