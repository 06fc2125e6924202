"""How much is on a tier, as far as this machine sees it."""

from __future__ import annotations

import os
import time
from pathlib import Path

_DU_SECONDS = 5.0
_BLOCK = 512  # the unit of st_blocks


def bytes_below(path: Path, seconds: float = _DU_SECONDS) -> tuple[int, bool]:
    """Space that the files below ``path`` take, and whether all were counted in time.
    Holes take none, and a file with several names counts once."""
    deadline = time.monotonic() + seconds
    sizes: dict[tuple[int, int], int] = {}  # of files with several names
    total = 0
    folders = [str(path)]
    while folders:
        if time.monotonic() > deadline:
            return total + sum(sizes.values()), False
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                        continue
                    found = entry.stat(follow_symlinks=False)
                    size = min(found.st_size, found.st_blocks * _BLOCK)
                    if found.st_nlink > 1:
                        sizes[found.st_dev, found.st_ino] = size
                    else:
                        total += size
        except OSError:
            continue
    return total + sum(sizes.values()), True
