"""Making things durable: syncfs, writing out early, and the pace of a journal."""

from __future__ import annotations

import os
import time

from pegasus_bb.core.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_WRITE = 2  # SYNC_FILE_RANGE_WRITE: start to write these pages out, do not wait
_libc: Any | None = None
_LARGE = 8 << 20  # bytes; copying as many takes longer than a sync
_SOON = 1.0  # seconds


def sync_file_system(folder: int) -> None:
    """Make all writes to the file system of open ``folder`` durable.

    One call for any number of files. Raises OSError if some data could not be written.
    """
    functions = _functions()
    if not hasattr(functions, "syncfs"):
        os.sync()  # reports no errors, but there is no alternative
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

        # An optimisation: the sync that follows reports errors.
        off_t = ctypes.c_int64
        functions.sync_file_range(handle, off_t(offset), off_t(length), _WRITE)


def _functions() -> Any:
    """The C library; an empty object if this Python cannot load it."""
    global _libc
    if _libc is None:
        try:
            import ctypes  # takes 10 ms, too much for a job that copies little

            _libc = ctypes.CDLL(None, use_errno=True)
        except (ImportError, OSError):
            _libc = object()
    return _libc


class JournalPace:
    """Decides when a journal writes its lines: each write costs a sync, and a crash
    loses the lines that are not written."""

    def __init__(self, many: int) -> None:
        """Write at the latest when ``many`` lines wait."""
        self._many = many
        self._last = time.monotonic()

    def is_due(self, waiting: int, size: int = 0) -> bool:
        """Whether to write the ``waiting`` lines now; the last one is of a file of
        ``size`` bytes. If so, the caller writes them."""
        now = time.monotonic()
        late = now - self._last >= _SOON
        due = waiting > 0 and (waiting >= self._many or size >= _LARGE or late)
        if due:
            self._last = now
        return due
