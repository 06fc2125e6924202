"""Folders that only the service may change: else a user could put his own there."""

from __future__ import annotations

import os


def why_open(folder: str, uid: int) -> str:
    """What to tell where others than ``uid`` can write to ``folder``, with what mends
    it; empty where none can. Raises OSError."""
    found = os.lstat(folder)
    if found.st_uid == uid and not found.st_mode & 0o022:
        return ""
    return (
        f"{folder}: belongs to another user, or others may write to it; fix: "
        f"chown {uid} {folder} && chmod go-w {folder}"
    )
