"""What the standard library has no name for: syncfs, and writing out early."""

from __future__ import annotations

import os
from typing import Any, Optional

_WRITE = 2  # SYNC_FILE_RANGE_WRITE: begin to write these pages out, wait for nothing
_libc: Optional[Any] = None


def sync_file_system(folder: int) -> None:
    """Make all that was written to the file system of open ``folder`` durable.

    One call for any number of files. Raises OSError: some of it could not be written.
    """
    if not hasattr(_functions(), "syncfs"):
        os.sync()  # tells of no error, but there is no other
        return
    _answered(_functions().syncfs(folder))


def begin_writing(handle: int, offset: int, length: int) -> None:
    """Have the kernel write out this range of a file while more of it is copied."""
    import ctypes

    # Only to be early: the fsync that follows says what went wrong.
    if hasattr(_functions(), "sync_file_range"):
        off_t = ctypes.c_int64
        _functions().sync_file_range(handle, off_t(offset), off_t(length), _WRITE)


def _functions() -> Any:
    global _libc
    if _libc is None:
        import ctypes  # 10 ms that a job which copies little does not pay

        _libc = ctypes.CDLL(None, use_errno=True)
    return _libc


def _answered(status: int) -> None:
    import ctypes

    if status != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
