"""Allows only one engine to work on a submit directory."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pegasus_bb.core.errors import UsageError


@contextmanager
def lock_submit_dir(path: Path) -> Iterator[None]:
    """Lock ``path`` as long as the block runs; the kernel releases it if we die.

    Raises UsageError naming the holder where another engine has it.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            ours = _try_lock(handle)
        except OSError as error:
            raise UsageError(
                f"{path}: its file system cannot lock files ({error.strerror}), so two "
                "runs at once would not be noticed; plan with --dir on another one"
            ) from error
        if not ours:
            holder = os.read(handle, 300).decode(errors="replace").strip()
            raise UsageError(
                f"{path.parent}: another pegasus-bb run works on this submit directory "
                f"({holder or 'it has not said which'}); wait for it or stop it"
            )
        if not _is_current(handle, path):
            raise UsageError(
                f"{path.parent}: another planning has just taken its place; look at "
                "what stands there now"
            )
        os.ftruncate(handle, 0)
        os.write(handle, f"pid {os.getpid()} on host {socket.gethostname()}\n".encode())
        yield
    finally:
        os.close(handle)


def _is_current(handle: int, path: Path) -> bool:
    """Whether ``path`` is still the locked file: --force may have moved a run aside."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _try_lock(handle: int) -> bool:
    """Whether we got the lock; retries, as pegasus-bb status holds it for a moment.
    Raises OSError if the file system has no locks."""
    for _ in range(10):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.01)
    return False
