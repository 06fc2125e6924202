"""Write hints: the expected lifetime of a file's data, set before its first byte.

A flash drive erases many pages at once, and copies those that are still alive. A file
system that supports hints separates files by their lifetime (docs/streams.md). Any user
may set a hint. It belongs to the inode, so it survives a rename; it is lost when the
inode leaves the kernel's cache.
"""

from __future__ import annotations

import os
import struct

NO_HINT = 0  # set none
# F_LINUX_SPECIFIC_BASE: F_GET_RW_HINT, F_SET_RW_HINT
_GET = 1024 + 11
_SET = 1024 + 12
_VALUE = struct.Struct("=Q")


def set_hint(handle: int, hint: int) -> None:
    """Set ``hint`` on an open file. A kernel or file system without hints ignores
    it."""
    if hint == NO_HINT:
        return
    import fcntl  # not at the top: most copies have no hint

    try:
        fcntl.fcntl(handle, _SET, _VALUE.pack(hint))
    except OSError:
        pass


def hint_of(path: str) -> int:
    """The hint that the file system keeps for ``path`` now. Raises OSError."""
    import fcntl  # as above

    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        (hint,) = _VALUE.unpack(fcntl.fcntl(handle, _GET, bytes(_VALUE.size)))
    finally:
        os.close(handle)
    return int(hint)
