"""Which files of a watched folder are safe at their destination.

The journal of `pegasus-bb stage`, which also remembers what arrived in this process. A
file is safe while it and its copy are what its line says: device, inode, size and
times, and a digest was made of what was copied.
"""

from __future__ import annotations

import os
import stat

from pegasus_bb.runtime.draining.scan import Version, version_of
from pegasus_bb.runtime.staging.items import Landed, stamp
from pegasus_bb.runtime.staging.stage_journal import StageJournal


class Arrivals(StageJournal):
    def __init__(self, path: str, source: str, dest: str) -> None:
        """Both are full paths. Raises UsageError as Journal does."""
        super().__init__(path, source, dest)
        self._source = source
        self._dest = dest
        # By inode of the source: one for all names of a file. State of both sides.
        self._new: dict[Version, tuple[int, Version, Version]] = {}

    def note(self, name: str, landed: Landed) -> None:
        super().note(name, landed)
        state = landed.size, tuple(landed.source), tuple(landed.stamp)
        self._new[state[1][:2]] = state

    def has(
        self, name: str, source: os.stat_result, copy: os.stat_result, *, digest: bool
    ) -> bool:
        state = source.st_size, tuple(stamp(source)), tuple(stamp(copy))
        is_new = self._new.get(state[1][:2]) == state and copy.st_size == source.st_size
        return is_new or super().has(name, source, copy, digest=digest)

    def came(self, version: Version) -> bool:
        """Whether that version has arrived in this process."""
        size, source, _ = self._new.get(version[:2], (0, (), ()))
        return (*source, size) == version

    def is_safe(self, name: str, version: Version) -> bool:
        """Whether ``name`` is still of that version, and safe."""
        path = os.path.join(self._source, name)
        to = os.path.join(self._dest, name)
        try:
            found = os.lstat(path)
            copy = os.lstat(to)
            if version_of(found) != version:
                return False
            if stat.S_ISLNK(found.st_mode):
                return os.readlink(path) == os.readlink(to)
        except OSError:
            return False
        return self.has(name, found, copy, digest=True)

    def forget(self, version: Version) -> None:
        """It is on the buffer no more. Another file may have its inode by now."""
        if self.came(version):
            del self._new[version[:2]]
