"""``.pegasus_bb_root``: what tells a tier's folder from the empty place of its mount.

Made with the first reservation, never removed. Without it, "no such reservation" would
be what a mount point says while the storage is away.
"""

from __future__ import annotations

import os

from pegasus_bb.errors import SchedulerUnreachable
from pegasus_bb.files import write_text

FILE = ".pegasus_bb_root"
_LONGEST = 100  # bytes; no id is longer


def mark(root: str) -> None:
    """Give folder ``root`` an id, if it has none; under the lock of the grants."""
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
    """The id of folder ``root``; empty where it has none or cannot be read."""
    try:
        with open(os.path.join(root, FILE), "rb") as source:
            return source.read(_LONGEST).decode("ascii", "replace").strip()
    except OSError:
        return ""


def why_other_storage(root: str, known: str) -> str:
    """Why ``root`` is not the folder that had the id ``known``; empty where it is.

    Without a ``known`` one, any id will do.
    """
    found = read(root)
    if found and known in ("", found):
        return ""
    has = f"has the id {found}, not {known}" if found else "is not there"
    path = os.path.join(root, FILE)
    return f"{root} is not the folder that the reservation was made in ({path} {has})"
