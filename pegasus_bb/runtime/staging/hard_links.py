"""Files of a tree that have several names: hard links."""

from __future__ import annotations

import os
from typing import NamedTuple


class HardLink(NamedTuple):
    """A further name of a file. Both are paths below the copy, because open folders
    would be too many."""

    first: str
    name: str


class HardLinks:
    """The hard links of a tree, as the walk finds them; each takes up to 1 KB of
    memory."""

    def __init__(self) -> None:
        self.further: list[HardLink] = []  # in the order of the walk
        # file -> the number of names still to come, and the first one
        self._first: dict[tuple[int, ...], tuple[int, str]] = {}

    def is_further(self, status: os.stat_result, path: str) -> bool:
        """Note ``path``, and tell whether it is a further name of a known file. A new
        file with a reused inode number is not."""
        key = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        known = self._first.pop(key, None)
        left, first = known or (status.st_nlink, path)
        if left > 1:
            self._first[key] = left - 1, first
        if known:
            self.further.append(HardLink(first, path))
        return known is not None
