"""Files of a tree that have several names: hard links. There may be millions."""

from __future__ import annotations

import os
from typing import Iterator, NamedTuple

from pegasus_bb.staging.spill_map import SpillMap


class HardLink(NamedTuple):
    """One of several names of a file. Both are paths below the copy; open folders would
    be too many."""

    first: str
    name: str


class HardLinks:
    """Of one tree, as the walk meets them. Every call raises OSError, as SpillMap's."""

    def __init__(self) -> None:
        self._first = (
            SpillMap()
        )  # file -> how many names are to come, and its first one
        self._further = SpillMap()  # number -> first name, further name
        self._many = 0

    def is_further(self, found: os.stat_result, path: str) -> bool:
        """Whether ``path`` is a further name of a file that was met before, and not of
        another that has come to its inode number meanwhile. Then it is noted."""
        is_this = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        key = b"%d %d %d %d" % is_this
        known = self._first.get(key)
        if known is None:
            self._first.put(key, b"%d %s" % (found.st_nlink - 1, os.fsencode(path)))
            return False
        left, _, first = known.partition(b" ")
        self._further.put(b"%d" % self._many, first + b"\0" + os.fsencode(path))
        self._many += 1
        if int(left) > 1:
            self._first.put(key, b"%d %s" % (int(left) - 1, first))
        else:
            self._first.discard(key)  # all of its names were met
        return True

    def __iter__(self) -> Iterator[HardLink]:
        """Further names in the order in which they were met."""
        for number in range(self._many):
            first, _, name = (self._further.get(b"%d" % number) or b"").partition(b"\0")
            yield HardLink(os.fsdecode(first), os.fsdecode(name))
