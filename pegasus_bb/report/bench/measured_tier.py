"""A tier to measure: its folder, its file system, and our temporary folder there."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass

from pegasus_bb.core.errors import NotMeasured, UsageError
from pegasus_bb.core.process import ask
from pegasus_bb.core.removal import remove

PREFIX = "pegasus-bb-bench."
_SHARE = 0.9  # of the free space; a full file system is slow
_IN_MEMORY = ("tmpfs", "ramfs")
_MEMORY = "/proc/meminfo"


@dataclass(frozen=True, slots=True)
class MeasuredFolder:
    name: str
    path: str
    kind: str  # of file system, as the kernel calls it
    device: int  # st_dev

    @property
    def in_memory(self) -> bool:
        return self.kind in _IN_MEMORY

    def room(self) -> int:
        """Return the bytes that a benchmark may write. Raises OSError."""
        found = os.statvfs(self.path)
        free = found.f_bavail * found.f_frsize
        if self.in_memory:
            free = min(free, _available_memory())
        return int(free * _SHARE)


def place(text: str) -> MeasuredFolder:
    """Read NAME=DIR, or DIR alone, whose last part is the name. Raises UsageError."""
    name, equals, path = text.partition("=")
    if not equals or "/" in name:
        name = ""
        path = text
    full = os.path.abspath(path)
    name = name or os.path.basename(full)
    if not path or not name.isprintable() or not name or name == "slots":
        raise UsageError(f"--tier {text!r}: such as bb=/mnt/bb, or the folder alone")
    if not os.path.isdir(full):
        raise UsageError(f"--tier {text}: there is no folder {full}; name one of yours")
    if not os.access(full, os.W_OK | os.X_OK, effective_ids=True):
        raise UsageError(f"--tier {text}: you may not write there; name one of yours")
    return MeasuredFolder(name, full, _kind(full), os.stat(full).st_dev)


def left_behind(place: MeasuredFolder) -> list[str]:
    """List the folders of benchmarks that run there now, or were killed."""
    with contextlib.suppress(OSError), os.scandir(place.path) as entries:
        return sorted(e.path for e in entries if e.name.startswith(PREFIX))
    return []  # one may be allowed to write there and not to list


@contextlib.contextmanager
def temporary_folder(place: MeasuredFolder) -> Iterator[str]:
    """Make a folder there, and remove it with its files, whatever happens.

    Raises NotMeasured if it cannot be made or removed.
    """
    host = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())
    name = f"{PREFIX}{host}.{os.getpid()}.{secrets.token_hex(4)}"
    path = os.path.join(place.path, name)
    try:  # the name is known before the folder exists, so no signal loses it
        try:
            os.mkdir(path, 0o700)
        except OSError as error:
            raise NotMeasured(f"{path}: cannot be made ({error.strerror})") from error
        yield path
    finally:
        _remove(path)


def _remove(path: str) -> None:
    try:
        remove(path)
    except OSError as error:
        raise NotMeasured(f"{path}: cannot be removed ({error}); rm -r it") from error
    except (KeyboardInterrupt, SystemExit) as error:
        raise NotMeasured(f"{path}: its removal was interrupted; rm -r it") from error


def _kind(path: str) -> str:
    """Name the file system as ``findmnt`` of util-linux does, else unknown."""
    found = ask(["findmnt", "-nro", "FSTYPE", "--target", path], timeout=10.0)
    return (found.out.split() or ["unknown"])[-1]  # of several mounts the last


def _available_memory() -> int:
    with contextlib.suppress(OSError, ValueError), open(_MEMORY) as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 1 << 62  # this kernel does not tell
