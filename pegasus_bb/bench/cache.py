"""Drop written files from the page cache, and check that they are gone."""

from __future__ import annotations

import os
from enum import Enum

_PAGE = 4096
_SAMPLES = 4  # of a file, spread over it
_TRIES = 3  # fast storage may answer a sample at once


class Cache(Enum):
    """Where reads come from, as far as this machine can tell; the worst is last."""

    DROPPED = "dropped"  # the page cache holds none of the samples
    UNKNOWN = "unknown"  # the file system does not tell
    WARM = "warm"  # the page cache still holds a part
    MEMORY = "memory"  # the file system lives in memory


_ORDER = list(Cache)


def worse(one: Cache, other: Cache) -> Cache:
    return max(one, other, key=_ORDER.index)


def drop(folder: str) -> Cache:
    """Write all files of ``folder`` to the storage and drop them from the page cache.

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
        # Without this a sample makes the kernel read ahead what shall not be there.
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
        size = os.fstat(handle).st_size
        for _ in range(_TRIES):
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            found = _sample(handle, size)
            if found is not Cache.WARM:
                break
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        return found
    finally:
        os.close(handle)


def _sample(handle: int, size: int) -> Cache:
    """Read some pages with RWF_NOWAIT, which never waits for the storage."""
    step = max(_PAGE, size // _SAMPLES // _PAGE * _PAGE)
    for at in range(0, size, step):
        try:
            if os.preadv(handle, [bytearray(_PAGE)], at, os.RWF_NOWAIT):
                return Cache.WARM
        except BlockingIOError:
            continue
        except OSError:
            return Cache.UNKNOWN
    return Cache.DROPPED
