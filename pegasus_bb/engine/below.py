"""Submit directories below a folder that is none itself: somebody named the base."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path

_DEPTH = 5  # <base>/<user>/<vogroup>/<label>/<run> and one more
_LOOKED_AT = 1000  # folders; a home directory is not walked to its end
_SHOWN = 3


def newest_below(folder: Path) -> list[Path]:
    """Some submit directories below ``folder``, the newest first."""
    found = sorted(_submit_dirs(folder), key=_age)
    return found[:_SHOWN]


def _submit_dirs(folder: Path) -> Iterator[Path]:
    waiting = deque([(folder, 0)])
    looked_at = 0
    while waiting and looked_at < _LOOKED_AT:
        here, depth = waiting.popleft()
        looked_at += 1
        names, folders = _entries(here)
        if any(name.endswith(".dag") for name in names):
            yield here
        elif depth < _DEPTH:
            waiting.extend((here / name, depth + 1) for name in folders)


def _entries(folder: Path) -> tuple[list[str], list[str]]:
    """Names of files, and of folders in their order; links are not followed."""
    try:
        with os.scandir(folder) as scan:
            entries = [(e.name, e.is_dir(follow_symlinks=False)) for e in scan]
    except OSError:
        return [], []
    folders = sorted(name for name, is_dir in entries if is_dir)
    return [name for name, is_dir in entries if not is_dir], folders


def _age(folder: Path) -> float:
    try:
        return -folder.stat().st_mtime
    except OSError:
        return 0.0
