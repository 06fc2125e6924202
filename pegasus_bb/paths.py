"""Paths as text: nothing here looks at a disk."""

from __future__ import annotations

import os


def is_below(path: str, folder: str) -> bool:
    """Whether ``path`` is inside ``folder``, both without `..` and links."""
    inside = folder.rstrip("/") + "/"
    return bool(folder) and path.startswith(inside) and path != inside


def plain_path(path: str) -> str:
    """A full path without `/./`; `..` stays, for whoever checks it."""
    full = path if path.startswith("/") else os.path.join(os.getcwd(), path)
    return "/" + "/".join(part for part in full.split("/") if part not in ("", "."))
