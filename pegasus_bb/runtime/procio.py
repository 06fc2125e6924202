"""What the kernel counted: bytes, calls, and seconds of waiting for I/O."""

from __future__ import annotations

import os
from typing import NamedTuple, Optional, Tuple


class Counters(NamedTuple):
    """/proc/PID/io: of a process and of the descendants that were waited for."""

    rchar: int = 0  # bytes asked of read(), the page cache and pipes included
    wchar: int = 0
    syscr: int = 0  # calls
    syscw: int = 0
    read_bytes: int = 0  # bytes that came from storage
    write_bytes: int = 0
    cancelled_write_bytes: int = 0

    def __sub__(self, other: object) -> Counters:
        """The difference, never below zero (a counter that we read in between)."""
        if not isinstance(other, Counters):
            return NotImplemented
        return Counters(*(max(0, a - b) for a, b in zip(self, other)))


def own_counters() -> Tuple[Optional[Counters], int]:
    """This process's counters now, and the bytes that reading them took.

    A kernel that does not count gives None: that is not the same as zero.
    """
    data = read_small("/proc/self/io")
    found = {}
    for line in data.decode().splitlines():
        name, _, number = line.partition(":")
        found[name] = int(number)
    known = {name: found[name] for name in Counters._fields if name in found}
    complete = len(known) == len(Counters._fields)
    return (Counters(**known) if complete else None), len(data)


def iowait_of(pid: int) -> Tuple[Optional[float], int]:
    """Seconds that ended, not yet reaped ``pid`` waited for block I/O; bytes read.

    None where the kernel did not measure: without task_delayacct the field is 0, and
    0 would be a made-up answer.
    """
    data = read_small(f"/proc/{pid}/stat")
    try:
        # The name in brackets may itself hold blanks and brackets.
        ticks = int(data[data.rindex(b")") + 2 :].split()[39])  # field 42
    except (ValueError, IndexError):
        return None, len(data)
    if not ticks and not _ACCOUNTED:
        return None, len(data)
    return ticks / os.sysconf("SC_CLK_TCK"), len(data)


def read_small(path: str) -> bytes:
    """Up to 16 KiB of ``path`` in one call; nothing where it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(handle, 16384)
    except OSError:
        return b""
    finally:
        os.close(handle)


# Linux before 5.14 has no such switch; there only a number above 0 proves anything.
_ACCOUNTED = read_small("/proc/sys/kernel/task_delayacct").strip() == b"1"
