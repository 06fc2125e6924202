"""Marks on the tier: of the run that a reservation belongs to, and of the tier itself.

A name can be reused and a mount can be missing, but the uuid in a reservation's file is
either this run's or another's. ``.pegasus_bb_root`` tells a tier's folder from its
empty mount point: the first reservation makes it, and it is never removed. Without it,
an empty mount point would answer "no such reservation" while the storage is not
mounted.
"""

from __future__ import annotations

import os
import pwd
import stat

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.core.files import parse_json, write_json, write_text
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.model.reservation import Request

if TYPE_CHECKING:
    from typing import Any

FILE = ".pegasus_bb"
DELETING = ".pegasus_bb.doomed"  # its name while the reservation is deleted
_LONGEST = 1 << 16  # bytes; an identity is never longer
ROOT_FILE = ".pegasus_bb_root"
_LONGEST_ID = 100  # bytes; no id is longer


def user_name(uid: int | None = None) -> str:
    """The name of a user, by default of this process; the number if the user has no
    name."""
    uid = os.getuid() if uid is None else uid
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return str(uid)


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
            data = parse_json(source.read(_LONGEST).decode("utf-8"))
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


def mark_root(root: str) -> None:
    """Give folder ``root`` an id, if it has none. The caller holds the grants' lock."""
    if root_id(root):
        return
    path = os.path.join(root, ROOT_FILE)
    try:
        mode = os.stat(root).st_mode & 0o666
        write_text(path, os.urandom(8).hex() + "\n", mode | 0o600)
    except OSError as error:
        raise SchedulerUnreachable(
            f"{path} cannot be written ({error.strerror})"
        ) from error


def root_id(root: str) -> str:
    """The id of folder ``root``; empty if it has none or cannot be read."""
    try:
        with open(os.path.join(root, ROOT_FILE), "rb") as source:
            return source.read(_LONGEST_ID).decode("ascii", "replace").strip()
    except OSError:
        return ""


def why_other_storage(root: str, known: str) -> str:
    """Why ``root`` is not the folder with the id ``known``; empty if it is.

    If ``known`` is empty, any id is accepted.
    """
    current = root_id(root)
    if current and known in ("", current):
        return ""
    has = f"has the id {current}, not {known}" if current else "is not there"
    path = os.path.join(root, ROOT_FILE)
    return f"{root} is not the folder that the reservation was made in ({path} {has})"
