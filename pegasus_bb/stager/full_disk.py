"""Whether a disk has room for what the service has to write."""

from __future__ import annotations

import os

_LEAST = 1 << 20  # bytes: some records and lines of the journal


def why_full(folder: str) -> str:
    """What to tell where the disk of ``folder`` takes nothing more; empty where it
    does, or where that cannot be known. A quota is not looked at."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return ""
    blocks = disk.f_bfree if os.getuid() == 0 else disk.f_bavail  # some are root's
    if blocks * disk.f_frsize < _LEAST:
        return f"{folder}: no space left on its disk: no task is accepted"
    if disk.f_files and not disk.f_ffree:
        return f"{folder}: its disk takes no more files: no task is accepted"
    return ""
