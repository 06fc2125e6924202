"""One engine to a submit directory."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pegasus_bb.errors import UsageError


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold ``path`` as long as the block runs; the kernel lets go of it if we die.

    Raises UsageError naming the holder where another engine has it.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _taken(handle):
            holder = os.read(handle, 300).decode(errors="replace").strip()
            raise UsageError(
                f"{path.parent}: another pegasus-bb run works on this submit directory "
                f"({holder or 'it has not said which'}); wait for it or stop it"
            )
        if not _in_place(handle, path):
            raise UsageError(
                f"{path.parent}: another planning has just taken its place; look at "
                "what stands there now"
            )
        os.ftruncate(handle, 0)
        os.write(handle, f"pid {os.getpid()} on host {socket.gethostname()}\n".encode())
        yield
    finally:
        os.close(handle)


def _in_place(handle: int, path: Path) -> bool:
    """Whether the lock is still that of ``path``: --force moves a run aside."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _taken(handle: int) -> bool:
    """Whether we have it now; pegasus-bb status holds it for a moment."""
    for _ in range(10):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            time.sleep(0.01)
    return False
