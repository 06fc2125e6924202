"""Paths as text: nothing here looks at a disk."""

from __future__ import annotations

import os

_LONGEST = 255 - 30  # bytes of a name, where more is to be added to it


def is_below(path: str, folder: str) -> bool:
    """Whether ``path`` is inside ``folder``, both without `..` and links."""
    inside = folder.rstrip("/") + "/"
    return bool(folder) and path.startswith(inside) and path != inside


def plain_path(path: str) -> str:
    """A full path without `/./`; `..` stays, for whoever checks it."""
    full = path if path.startswith("/") else os.path.join(os.getcwd(), path)
    return "/" + "/".join(part for part in full.split("/") if part not in ("", "."))


def is_long(name: str) -> bool:
    """Whether ``name`` is too long to stand in a temporary name."""
    # Four bytes are the most that a character takes.
    return len(name) > _LONGEST // 4 and len(os.fsencode(name)) > _LONGEST


def cut_name(dest: str) -> bytes:
    """The name of ``dest`` as it stands in a temporary one; no two have the same."""
    name = os.fsencode(os.path.basename(dest))
    if len(name) <= _LONGEST:
        return name
    import hashlib  # names are seldom that long

    digest = hashlib.sha256(name).hexdigest()[:16]
    return name[: _LONGEST - 17] + b"~" + digest.encode()
