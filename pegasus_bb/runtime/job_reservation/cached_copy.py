"""One shared input in the cache of a node: its source, its copy, and the note on it.

The copy is closed to writing, and its note has its stamp (size, times and inode) and
its digest. A copy with another stamp is read; with other bytes it is not used.
"""

from __future__ import annotations

import hashlib
import os
import stat

from pegasus_bb.core.files import UNREADABLE, read_json, write_json
from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.refusals import close_to_writing
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.folder_lfns import digest_path
from pegasus_bb.runtime.staging.onefile import copy_file
from pegasus_bb.runtime.transfers.checksums import check_digest

_NOTE = ".note"


class Source(NamedTuple):
    """An input in the run's scratch, as it is now. Another state has another key."""

    path: str  # without links
    name: str  # of the input in its job's folder
    size: int
    digest: str  # that the catalog declares, or empty
    key: str

    @classmethod
    def of(cls, path: str, digest: str) -> Source | None:
        """None if it is no file. Raises OSError."""
        name, real = os.path.basename(path), os.path.realpath(path)
        found = os.stat(real)
        if not stat.S_ISREG(found.st_mode) or name == _NOTE:
            return None
        return cls(real, name, found.st_size, digest, _key(real, name, digest, found))

    @property
    def is_unchanged(self) -> bool:
        now = os.stat(self.path)
        return _key(self.path, self.name, self.digest, now) == self.key


def _key(path: str, name: str, digest: str, found: os.stat_result) -> str:
    state = (path, name, digest, found.st_mode, *stamp(found))
    return hashlib.sha256(repr(state).encode()).hexdigest()[:40]


def copy_whole(source: Source, folder: str) -> bool:
    """Copy ``source`` into ``folder``, with a note; False if it is not what it was.

    Raises OSError, and CopyFailed also for a digest that the catalog does not have.
    """
    path = os.path.join(folder, source.name)
    copied = copy_file(source.path, path)
    if not source.is_unchanged:
        return False
    check_digest(source.path, path, source.digest, copied.digest)
    close_to_writing(path, copied.stat.st_mode)
    found = stamp(os.lstat(path))
    note = {"source": source.path, "digest": copied.digest, "stamp": found}
    write_json(os.path.join(folder, _NOTE), note)
    return True


def is_whole(path: str) -> bool:
    """Whether the copy at ``path`` is what its note says."""
    try:
        found = stamp(os.lstat(path))
        same = read_json(os.path.join(os.path.dirname(path), _NOTE))["stamp"] == found
        return bool(same) or has_its_bytes(path)
    except UNREADABLE:
        return False


def has_its_bytes(path: str) -> bool:
    """Whether the copy at ``path``, whose stamp has changed, has the bytes that were
    brought: a task may touch it, or make a link to it. It is then closed to writing,
    and its note has the new stamp. Raises OSError, ValueError."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return False
    folder = os.path.dirname(path)
    note = read_json(os.path.join(folder, _NOTE))
    try:
        if digest_path(path, note["digest"]) != note["digest"]:
            return False
    except (CopyFailed, TypeError, KeyError):
        return False
    close_to_writing(path, os.lstat(path).st_mode)
    note = {**note, "stamp": stamp(os.lstat(path))}
    write_json(os.path.join(folder, _NOTE), note)
    return True


def stamp(found: os.stat_result) -> list[int]:
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
