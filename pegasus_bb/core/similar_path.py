"""What a path was to name, where nothing has its name."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path


def similar_path(path: Path) -> str:
    """A sentence with the entry beside ``path`` whose name is closest; empty if none is
    close. For the end of an error's text."""
    try:
        names = [e.name for e in path.parent.iterdir() if e.name != path.name]
    except OSError:
        return ""
    close = [name for name in get_close_matches(path.name, names, 1) if _plain(name)]
    return f"; did you mean {path.parent / close[0]}?" if close else ""


def _plain(name: str) -> bool:
    return name.isprintable()
