"""Dataspaces: names for folders, and a way into them that never leads out again.

``lustre://inputs/a`` is the file ``inputs/a`` below the folder of dataspace ``lustre``.
A path is walked folder by folder with O_NOFOLLOW, so a link that is put into it
between submit and copy is refused, not followed.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from re import Pattern

from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.refusals import sync_folder
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.runtime.staging.items import Folder

_URL = re.compile(r"([a-z][a-z0-9_-]{0,31})://(.*)", re.DOTALL)
_LONGEST = 4096  # characters of a place; Linux takes no longer path
_HERE = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_THROUGH = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Dataspace(NamedTuple):
    """A folder that tasks may name."""

    name: str
    root: str  # absolute
    target: str = ""  # what its bandwidth is shared with; its own name by default
    rate: float = 0.0  # bytes per second of all tasks together; 0: no limit
    discard: float = 0.0  # seconds between two discards of free space; 0: none


class DataspacePlace(NamedTuple):
    """A file or folder in a dataspace."""

    space: str
    parts: tuple[str, ...]  # below the root; none: the root itself


Dataspaces = dict[str, Dataspace]


def parse_place(url: str, spaces: Dataspaces) -> DataspacePlace:
    """The place that ``url`` names. Raises Refused."""
    match = _URL.fullmatch(url)
    if match is None:
        raise Refused("bad-place", f"{url!r} is no NAME://path; say {_names(spaces)}")
    name = match[1]
    path = match[2]
    if name not in spaces:
        raise Refused(
            "bad-place", f"{url!r}: no dataspace {name}; say {_names(spaces)}"
        )
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts or "\0" in path:
        raise Refused("bad-place", f"{url!r}: a path below {name}:// has no '..' in it")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise Refused("bad-place", f"{url!r}: no file can have that name") from None
    return DataspacePlace(name, parts)


def check_places(urls: Sequence[str], spaces: Dataspaces) -> None:
    """Raises Refused where one of ``urls`` names nothing below a dataspace's root. One
    look at all together suffices for nearly every large request."""
    text = "\n".join([*urls, ""])
    is_line_each = text.count("\n") == len(urls)
    if is_line_each and ".." not in text and _lines_of(tuple(spaces)).fullmatch(text):
        return
    for url in urls:
        if len(url) > _LONGEST:
            why = f"{url[:60]!r}...: a place has at most {_LONGEST} characters"
            raise Refused("bad-place", why)
        if not parse_place(url, spaces).parts:
            raise Refused("bad-place", f"{url!r} is a dataspace; name what is in it")


@lru_cache(maxsize=8)
def _lines_of(names: tuple[str, ...]) -> Pattern[str]:
    """Short places of printable ASCII in dataspaces of ``names``, one a line."""
    name = "|".join(map(re.escape, names)) or "(?!)"
    path = r"[./]{0,16}[^./\x00-\x1f\x7f-\U0010ffff][ -~]{0,4000}"
    return re.compile(f"(?:(?:{name})://{path}\n)+")


def url_of(path: str, roots: Mapping[str, str]) -> str:
    """The place of ``path``, a full path without links, in the dataspace that lies
    nearest above it; empty where none does. ``roots``: name -> folder."""
    found = ""
    longest = 0
    for name, root in roots.items():
        folder = os.path.realpath(root).rstrip("/") + "/"
        if path.startswith(folder) and len(folder) > longest:
            found = f"{name}://{path[len(folder) :]}"
            longest = len(folder)
    return found


def as_roots(spaces: Dataspaces) -> dict[str, str]:
    """Return the root of each by name, as a worker needs them."""
    return {name: space.root for name, space in spaces.items()}


def place_of(path: str, roots: dict[str, str]) -> str:
    """The place of an absolute ``path`` in a dataspace, one of those whose folders are
    ``roots``: the longest of them that it lies below. Raises Refused."""
    clean = os.path.normpath(path)
    found = [
        (root.rstrip("/"), name)
        for name, root in roots.items()
        if clean.startswith(root.rstrip("/") + "/")
    ]
    if not found:
        known = ", ".join(f"{name}:// ({root})" for name, root in sorted(roots.items()))
        raise Refused("bad-place", f"{path} is below none of {known}")
    root, name = max(found)
    return f"{name}://{clean[len(root) + 1 :] if root else clean}"


def open_parent(space: Dataspace, parts: tuple[str, ...], *, make: bool) -> Folder:
    """The folder that has, or with ``make`` shall have, the last of ``parts``.

    Raises OSError: ELOOP or ENOTDIR where a link is in the way.
    """
    if not parts:
        raise OSError(errno.EPERM, "the dataspace itself", space.root)
    way = parts[:-1]
    folder = _root(space.root, is_last=not way)
    for number, name in enumerate(way, 1):
        if make:
            _make(folder, name)
        folder = _through(folder, name) if number < len(way) else _enter(folder, name)
    return folder


def enter_made(parent: Folder, name: str) -> Folder:
    """The folder ``name`` of ``parent``, made if it is not there. Raises OSError."""
    is_new = _make(parent, name)
    folder = _enter(parent, name)
    folder.is_new = is_new
    return folder


def _root(path: str, *, is_last: bool) -> Folder:
    try:
        return Folder(os.open(path, _HERE), path)
    except PermissionError:
        if is_last:
            raise
        return Folder(os.open(path, _THROUGH & ~os.O_NOFOLLOW), path)


def _through(folder: Folder, name: str) -> Folder:
    """A folder on the way. A user who may search it but not list it gets through."""
    try:
        return _enter(folder, name)
    except PermissionError as error:
        try:
            handle = os.open(name, _THROUGH, dir_fd=folder.fd)
        except OSError:
            raise error from None
        return Folder(handle, folder.at(name))


def _make(folder: Folder, name: str) -> bool:
    """Make the folder ``name``; whether it was not there. Raises OSError."""
    try:
        os.mkdir(name, 0o777, dir_fd=folder.fd)
    except FileExistsError:
        return False
    except OSError as error:
        error.filename = folder.at(name)
        raise
    try:
        sync_folder(folder.fd)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        os.rmdir(name, dir_fd=folder.fd)  # only open to get through: not to be synced
        raise PermissionError(
            errno.EACCES, os.strerror(errno.EACCES), folder.path
        ) from error
    return True


def _enter(folder: Folder, name: str) -> Folder:
    try:
        return folder.enter(name)
    except OSError as error:
        error.filename = folder.at(name)
        if error.errno in (errno.ENOTDIR, errno.ELOOP) and _is_link(folder, name):
            error.strerror = "a link; write the path that it leads to"
        raise


def _is_link(folder: Folder, name: str) -> bool:
    try:
        os.readlink(name, dir_fd=folder.fd)
    except OSError:
        return False
    return True


def _names(spaces: Dataspaces) -> str:
    names: list[str] = [f"{name}://..." for name in sorted(spaces)]
    return " or ".join(names) or "nothing: the service has no dataspace"
