"""Drop written files from the page cache, and check that they are gone."""

from __future__ import annotations

import os

_PAGE = 4096
_SAMPLES = 4  # of a file, spread over it
_TRIES = 3  # fast storage may answer a sample at once


def drop(folder: str) -> bool:
    """Write all files of ``folder`` to the storage and drop them from the page cache.

    False if some may still be there. Raises OSError.
    """
    dropped = True
    for entry in os.scandir(folder):
        dropped = _drop(entry.path) and dropped
    return dropped


def _drop(path: str) -> bool:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        # Without this a sample makes the kernel read ahead what shall not be there.
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
        size = os.fstat(handle).st_size
        for _ in range(_TRIES):
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            dropped = _is_dropped(handle, size)
            if dropped:
                break
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        return dropped
    finally:
        os.close(handle)


def _is_dropped(handle: int, size: int) -> bool:
    """Read some pages with RWF_NOWAIT, which never waits for the storage."""
    step = max(_PAGE, size // _SAMPLES // _PAGE * _PAGE)
    for at in range(0, size, step):
        try:
            if os.preadv(handle, [bytearray(_PAGE)], at, os.RWF_NOWAIT):
                return False
        except BlockingIOError:
            continue
        except OSError:  # the file system does not tell
            return False
    return True
