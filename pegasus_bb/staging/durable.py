"""Making things durable: syncfs, writing out early, and the pace of a journal."""

from __future__ import annotations

import os
import time
from typing import Any, Optional

_WRITE = 2  # SYNC_FILE_RANGE_WRITE: begin to write these pages out, wait for nothing
_libc: Optional[Any] = None
_LARGE = 8 << 20  # bytes; copying as many takes longer than a sync
_SOON = 1.0  # seconds


def sync_file_system(folder: int) -> None:
    """Make all that was written to the file system of open ``folder`` durable.

    One call for any number of files. Raises OSError: some of it could not be written.
    """
    functions = _functions()
    if not hasattr(functions, "syncfs"):
        os.sync()  # tells of no error, but there is no other
        return
    if functions.syncfs(folder) != 0:
        import ctypes

        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def begin_writing(handle: int, offset: int, length: int) -> None:
    """Have the kernel write out this range of a file while more of it is copied."""
    functions = _functions()
    if hasattr(functions, "sync_file_range"):
        import ctypes

        # Only to be early: the sync that follows says what went wrong.
        off_t = ctypes.c_int64
        functions.sync_file_range(handle, off_t(offset), off_t(length), _WRITE)


def _functions() -> Any:
    """Those of the C library; of nothing where this Python cannot call it."""
    global _libc
    if _libc is None:
        try:
            import ctypes  # 10 ms that a job which copies little does not pay

            _libc = ctypes.CDLL(None, use_errno=True)
        except (ImportError, OSError):
            _libc = object()
    return _libc


class Pace:
    """When a journal writes its lines about files that arrived: they cost a sync, and a
    crash costs the files whose lines were not written."""

    def __init__(self, many: int) -> None:
        """``many``: so many lines are written at once, however fast they come."""
        self._many = many
        self._last = time.monotonic()

    def is_due(self, waiting: int, size: int = 0) -> bool:
        """True if ``waiting`` lines should be written now, the last of a file of
        ``size`` bytes. The caller then writes them."""
        now = time.monotonic()
        late = now - self._last >= _SOON
        due = waiting > 0 and (waiting >= self._many or size >= _LARGE or late)
        if due:
            self._last = now
        return due
