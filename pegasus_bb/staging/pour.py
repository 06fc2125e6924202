"""A file's bytes into another, open and empty one: shared with it where they can be.

Else they are moved (moves.py); for a digest they are read beside that (hashing.py).
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple, Optional

from pegasus_bb.staging.digests import Digest
from pegasus_bb.staging.moves import CHUNK, Tell, move_all
from pegasus_bb.staging.segments import Segments

FICLONE = 0x40049409  # linux/fs.h


class Poured(NamedTuple):
    size: int  # bytes, holes included
    digest: str  # sha256:... say, or "" if not asked for


def ignore_progress(_: int) -> None:
    """The default `tell`: no person waits for the copy."""


def pour(
    source: int,
    out: int,
    size: int,
    hollow: bool,
    digest: Optional[Digest],
    tell: Tell = ignore_progress,
    segments: Optional[Segments] = None,
) -> Poured:
    """Copy ``size`` bytes of open file ``source`` into the empty open file ``out``.

    Fewer arrive where the source ends before that. What is shared writes nothing, and
    asks for no segment. Raises OSError.
    """
    if size == 0:
        return Poured(0, digest.words(digest.new()) if digest else "")
    cloned = _clone(source, out)
    if not (cloned or hollow):
        _check_room(out, size)
    if digest is not None:
        from pegasus_bb.staging.hashing import hash_of, pour_hashed  # needs threads

        if not cloned:
            found = pour_hashed(source, out, size, hollow, digest, tell, segments)
            return Poured(*found)
        tell(size)
        return Poured(size, hash_of(source, size, hollow, digest))
    if not cloned:
        moved = move_all(source, out, size, hollow, tell, segments=segments)
        return Poured(moved, "")
    tell(size)
    return Poured(os.fstat(out).st_size, "")


def is_hollow(found: os.stat_result) -> bool:
    return found.st_blocks * 512 < found.st_size


def _check_room(out: int, size: int) -> None:
    """Refuse what cannot fit before it takes the room of what does. Raises OSError."""
    if size > CHUNK:
        found = os.fstatvfs(out)
        if found.f_blocks and found.f_bavail * found.f_frsize < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _clone(source: int, out: int) -> bool:
    import fcntl

    try:
        fcntl.ioctl(out, FICLONE, source)
    except OSError:  # of another file system, or of one that shares nothing
        return False
    return True
