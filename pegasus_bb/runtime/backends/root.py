"""``.pegasus_bb_root``: distinguishes a tier's folder from its empty mount point.

The first reservation makes it, and it is never removed. Without it, an empty mount
point would answer "no such reservation" while the storage is not mounted.
"""

from __future__ import annotations

import os

from pegasus_bb.core.errors import SchedulerUnreachable
from pegasus_bb.core.files import write_text

FILE = ".pegasus_bb_root"
_LONGEST = 100  # bytes; no id is longer


def mark(root: str) -> None:
    """Give folder ``root`` an id, if it has none. The caller holds the grants' lock."""
    if read(root):
        return
    path = os.path.join(root, FILE)
    try:
        mode = os.stat(root).st_mode & 0o666
        write_text(path, os.urandom(8).hex() + "\n", mode | 0o600)
    except OSError as error:
        raise SchedulerUnreachable(
            f"{path} cannot be written ({error.strerror})"
        ) from error


def read(root: str) -> str:
    """The id of folder ``root``; empty if it has none or cannot be read."""
    try:
        with open(os.path.join(root, FILE), "rb") as source:
            return source.read(_LONGEST).decode("ascii", "replace").strip()
    except OSError:
        return ""


def why_other_storage(root: str, known: str) -> str:
    """Why ``root`` is not the folder with the id ``known``; empty if it is.

    If ``known`` is empty, any id is accepted.
    """
    current = read(root)
    if current and known in ("", current):
        return ""
    has = f"has the id {current}, not {known}" if current else "is not there"
    path = os.path.join(root, FILE)
    return f"{root} is not the folder that the reservation was made in ({path} {has})"
