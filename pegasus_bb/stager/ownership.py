"""Folders that only this service may change: no user, and no other service."""

from __future__ import annotations

import os
import stat

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import await_lock

# What the service keeps in its folder ``state``, for no other user.
_LOOK = 0.02  # seconds between two looks whether another service has gone
FILES = ("tasks.sqlite", "tasks.sqlite-wal", "lock")


def why_not_private(state: str, uid: int) -> str:
    """Return what is wrong where others than ``uid`` can use what the service keeps
    in ``state``, with what mends it; empty where none can."""
    for name in FILES:
        path = os.path.join(state, name)
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            continue
        is_file = stat.S_ISREG(found.st_mode)  # else to use it tells more
        if is_file and (found.st_uid != uid or found.st_mode & 0o077):
            return (
                f"{path}: belongs to another user, or others may read or write it; "
                f"fix: look at what is in it, then chown -R {uid} {path} && "
                f"chmod -R go-rwx {path}"
            )
    return ""


def locked(folder: str, key: str, patience: float = 0.0) -> int:
    """Return what keeps other services out of ``folder`` until it is closed. ``key``:
    of the configuration. Raises UsageError where another has it for ``patience``
    seconds; OSError."""
    path = os.path.join(folder, "lock")
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        await_lock(lock, patience, _LOOK)
    except BlockingIOError:
        raise UsageError(
            f"{folder}: another staging service is at work there; end it, or name "
            f"another folder as {key}"
        ) from None
    return lock


def why_open(folder: str, uid: int) -> str:
    """Return what is wrong where others than ``uid`` can write to ``folder``, and what
    mends it; empty where none can. Raises OSError."""
    found = os.lstat(folder)
    if found.st_uid == uid and not found.st_mode & 0o022:
        return ""
    return (
        f"{folder}: belongs to another user, or others may write to it; fix: "
        f"chown {uid} {folder} && chmod go-w {folder}"
    )
