"""Folders that only the service may change: else a user could put his own there."""

from __future__ import annotations

import os
import stat

# What the service keeps in its folder ``state``, for no other user.
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
