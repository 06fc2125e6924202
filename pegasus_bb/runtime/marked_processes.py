"""Processes by their environment, which their descendants have, too: it tells those of
a job, also where their parents have ended."""

from __future__ import annotations

import os

from pegasus_bb.core.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator


def processes_with(wanted: Container[bytes]) -> Iterator[tuple[int, bytes]]:
    """The running processes of this user, but this one, that have one of the variables
    ``wanted`` (``NAME=value``), and which one."""
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        for variable in _environment(name).split(b"\0"):
            if variable in wanted and start_time(int(name)):
                yield int(name), variable


def start_time(pid: int) -> int:
    """When ``pid`` was started, in ticks since boot; 0 where it does not run."""
    fields = _state(pid)
    return 0 if not fields or fields[0] in (b"Z", b"X") else int(fields[19])


def ancestors(pid: int) -> Iterator[int]:
    """The parent of ``pid``, that one's parent, and so on, as far as they are seen."""
    while fields := _state(pid):
        pid = int(fields[1])
        yield pid


def _environment(name: str) -> bytes:
    try:
        with open(f"/proc/{name}/environ", "rb") as environ:
            return environ.read()
    except OSError:  # it has ended, or is another user's
        return b""


def _state(pid: int) -> list[bytes]:
    """The fields of its stat behind the name; none where it does not run."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            text = stat.read()
    except OSError:
        return []
    return text[text.rindex(b")") + 2 :].split()  # a name may hold blanks and )
