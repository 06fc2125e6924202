"""Files of a tree that have several names: hard links."""

from __future__ import annotations

import os
from typing import Dict, List, NamedTuple, Tuple


class HardLink(NamedTuple):
    """One of several names of a file. Both are paths below the copy; open folders would
    be too many."""

    first: str
    name: str


class HardLinks:
    """Those of one tree, as the walk meets them; each takes up to 1 KB of memory."""

    def __init__(self) -> None:
        self.further: List[HardLink] = []  # in the order in which they were met
        # file -> how many names are to come, and its first one
        self._first: Dict[Tuple[int, ...], Tuple[int, str]] = {}

    def is_further(self, found: os.stat_result, path: str) -> bool:
        """True if ``path``, which is noted, is a further name of a file that was met
        before, and not of another that has come to its inode number meanwhile."""
        key = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        known = self._first.pop(key, None)
        left, first = known or (found.st_nlink, path)
        if left > 1:
            self._first[key] = left - 1, first
        if known:
            self.further.append(HardLink(first, path))
        return known is not None
