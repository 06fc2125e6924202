"""Take what was written out of the page cache, and see whether it went."""

from __future__ import annotations

import os
from enum import Enum

from pegasus_bb.bench.plan import PAGE

_LOOKS = 4  # places in a file, spread over it
_TRIES = 3  # storage may be so fast that it answers without being waited for


class Cache(Enum):
    """Where reads came from, as far as this machine can tell; the worst is last."""

    PAST = "bypassed"  # direct I/O
    DROPPED = "dropped"  # none of it was in the page cache any more
    UNKNOWN = "unknown"  # asked to drop it; the file system does not tell
    WARM = "warm"  # some of it was still there
    MEMORY = "memory"  # a file system that lives in memory


_WORST = list(Cache)


def worse(one: Cache, other: Cache) -> Cache:
    """The one that says less about the storage."""
    return max(one, other, key=_WORST.index)


def drop(folder: str) -> Cache:
    """Put all files of ``folder`` on the storage and out of the page cache.

    Raises OSError.
    """
    found = Cache.DROPPED
    for entry in os.scandir(folder):
        found = worse(found, _drop(entry.path))
    return found


def _drop(path: str) -> Cache:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        # Else each look would have the kernel read ahead what is not to be there.
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
        size = os.fstat(handle).st_size
        for _ in range(_TRIES):
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            found = _look(handle, size)
            if found is not Cache.WARM:
                break
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        return found
    finally:
        os.close(handle)


def _look(handle: int, size: int) -> Cache:
    """Read what is there without waiting for any storage."""
    step = max(PAGE, size // _LOOKS // PAGE * PAGE)
    for at in range(0, size, step):
        try:
            if os.preadv(handle, [bytearray(PAGE)], at, os.RWF_NOWAIT):
                return Cache.WARM
        except BlockingIOError:
            continue  # it would have to be waited for
        except OSError:
            return Cache.UNKNOWN
    return Cache.DROPPED
