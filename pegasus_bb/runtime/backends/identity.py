"""The identity file on the tier: the run that a reservation belongs to.

A name can be reused and a mount can be missing, but the uuid in this file is either
this run's or another's.
"""

from __future__ import annotations

import json
import os
import pwd
import stat
from typing import Any

from pegasus_bb.core.errors import ReservationFailed
from pegasus_bb.core.files import write_json
from pegasus_bb.model.reservation import Request

FILE = ".pegasus_bb"
DELETING = ".pegasus_bb.doomed"  # its name while the reservation is deleted
_LONGEST = 1 << 16  # bytes; an identity is never longer


def user_name() -> str:
    """The name of this process's user, or the number if the user has no name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def open_folder(path: str) -> int:
    """A descriptor of directory ``path``. Raises OSError for a symbolic link."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def read_in(folder: int) -> dict[str, Any]:
    """The identity in the open ``folder``; empty if it has none.

    It has the key ``deleting`` while the reservation is deleted.
    """
    return _read_file(folder, FILE) or {
        **_read_file(folder, DELETING),
        "deleting": True,
    }


def _read_file(folder: int, name: str) -> dict[str, Any]:
    try:
        handle = os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder
        )
    except OSError:
        return {}
    with os.fdopen(handle, "rb") as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            return {}
        try:
            data = json.loads(source.read(_LONGEST).decode("utf-8"))
        except (ValueError, RecursionError):
            return {}
    return data if isinstance(data, dict) else {}


def read(path: str) -> dict[str, Any]:
    """The identity in directory ``path``; empty if it has none. Raises OSError."""
    folder = open_folder(path)
    try:
        return read_in(folder)
    finally:
        os.close(folder)


def note(path: str, identity: dict[str, Any]) -> None:
    """Write the identity file of directory ``path``, whole or not at all."""
    write_json(os.path.join(path, FILE), identity)


def restore(path: str, identity: dict[str, Any]) -> None:
    """Restore the mark of a folder that is deleted: without it, it cannot be
    removed."""
    known = {key: value for key, value in identity.items() if key != "deleting"}
    write_json(os.path.join(path, DELETING), known)


def mark_deleting(path: str) -> None:
    """Mark ``path`` as being deleted, for good; works on a full file system, too."""
    folder = open_folder(path)
    try:
        if not _read_file(folder, DELETING):
            os.rename(FILE, DELETING, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        error.filename = os.path.join(path, FILE)
        del error.filename2  # None would be printed as a name
        raise
    finally:
        os.close(folder)


def check(path: str, request: Request) -> dict[str, Any]:
    """The identity in ``path``, if it is this run's. Raises ReservationFailed."""
    try:
        known = read(path)
    except OSError as error:
        what = "is a symbolic link" if os.path.islink(path) else str(error.strerror)
        raise ReservationFailed(
            f"reservation {request.name}: {path} {what}; expected the folder of this "
            "run's reservation, so nothing is read or written there"
        ) from error
    if known.get("uuid") != request.uuid:
        whose = f"run {known['uuid']}" if known.get("uuid") else "no run"
        raise ReservationFailed(
            f"reservation {request.name}: {path} carries the identity of {whose}, "
            f"not of this run ({request.uuid}); nothing is read or written there"
        )
    return known
