"""A whole folder as one task: copied by a journal, and moved only when all is there."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from typing import Callable, NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.paths import is_below
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.items import Folder, stamp
from pegasus_bb.runtime.staging.stage_journal import StageJournal
from pegasus_bb.runtime.staging.stage_tree import Stage
from pegasus_bb.runtime.staging.tree import keep_mode_of, mode_of

_SHOWN = 3  # failures in a message; the rest is counted

Sides = tuple[Folder, Folder]  # of the source and of its copy


def copy_tree(
    source: Folder,
    dest: Folder,
    journal_path: str,
    tell: Callable[[int], None],
    hint: int,
) -> int:
    """Copy what is not there yet; the bytes of this try. ``hint``: of every file, as in
    hints.py. Raises CopyFailed, OSError."""
    _check_apart(source, dest)
    failures: list[str] = []
    with closing(StageJournal(journal_path, source.path, dest.path)) as journal:
        stage = Stage(
            source.path,
            dest.path,
            journal,
            SHA256,
            lambda failure: failures.append(str(failure)),
            folders=(source, dest),
            hint=hint,
        )
        stage.run(tell)
    if failures:
        more = len(failures) - _SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        raise CopyFailed("; ".join([*failures[:_SHOWN], *rest]))
    return stage.bytes


def remove_copied(source: Folder, dest: Folder, journal_path: str) -> None:
    """Remove every file of ``source`` that the journal says is in ``dest`` as it is
    now. What came or changed since stays. Raises CopyFailed then."""
    with closing(StageJournal(journal_path, source.path, dest.path)) as journal:
        left = Emptying(journal).run(source, dest)
    if left:
        raise CopyFailed(
            f"{source.at(left)}: it came or changed after the copy, so it stays; all "
            "that was copied is whole"
        )


def _check_apart(source: Folder, dest: Folder) -> None:
    """Raises UsageError where one lies in the other."""
    real, copy = (os.readlink(f"/proc/self/fd/{f.fd}") for f in (source, dest))
    if source.is_same(dest) or is_below(real, copy) or is_below(copy, real):
        raise UsageError(f"{source.path} -> {dest.path}: one lies in the other")


class _Linked(NamedTuple):
    """A file of several names, of which one went."""

    before: os.stat_result  # when it was copied
    now: list[int]  # its stamp
    copy: list[int]  # that of the copy of the name that went


class Emptying:
    """Removes what was copied of one tree."""

    def __init__(self, journal: StageJournal) -> None:
        self._journal = journal
        # By device and inode. Each name of a file that goes changes the file, and the
        # journal may have one of the names only.
        self._linked: dict[tuple[int, int], _Linked] = {}

    def run(self, source: Folder, dest: Folder) -> str:
        """The first path below ``source`` that has to stay; empty if there is none."""
        left = self._empty((source, dest), "")
        if left and self._linked:  # names that were met before the journal's
            left = self._empty((source, dest), "")
        return left

    def _empty(self, sides: Sides, path: str) -> str:
        source = sides[0]
        mode = mode_of(source)
        keep_mode_of(source, mode | 0o700)  # names can be taken out of it
        left = [self._take(sides, name, path + name) for name in os.listdir(source.fd)]
        stays = next(filter(None, left), "")
        if stays:
            keep_mode_of(source, mode)
        return stays

    def _take(self, sides: Sides, name: str, path: str) -> str:
        """Remove a file, or a folder with all in it; return what has to stay."""
        source, dest = sides
        found = source.lstat(name)
        try:
            if stat.S_ISDIR(found.st_mode):
                inner = source.enter(name), dest.enter(name)
            else:
                copy = dest.lstat(name)
                if not self._is_copied(sides, name, path, found, copy):
                    return path
        except OSError:
            return path
        if not stat.S_ISDIR(found.st_mode):
            self._unlink(source, name, found, copy)
            return ""
        left = self._empty(inner, f"{path}/")
        if not left:
            os.rmdir(name, dir_fd=source.fd)
        return left

    def _is_copied(
        self,
        sides: Sides,
        name: str,
        path: str,
        found: os.stat_result,
        copy: os.stat_result,
    ) -> bool:
        if stat.S_ISLNK(found.st_mode):
            targets = [os.readlink(name, dir_fd=side.fd) for side in sides]
            return targets[0] == targets[1]
        known = self._linked.get((found.st_dev, found.st_ino))
        if known is not None and known.now == stamp(found):
            if known.copy == stamp(copy):
                return True
            found = known.before
        return self._journal.has(path, found, copy, digest=True)

    def _unlink(
        self, source: Folder, name: str, found: os.stat_result, copy: os.stat_result
    ) -> None:
        if found.st_nlink == 1 or not stat.S_ISREG(found.st_mode):
            source.unlink(name)
            return
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=source.fd)
        try:
            source.unlink(name)
            now = os.fstat(handle)
        finally:
            os.close(handle)
        if (now.st_size, stamp(now)[:3]) == (found.st_size, stamp(found)[:3]):
            key = found.st_dev, found.st_ino
            before = self._linked[key].before if key in self._linked else found
            self._linked[key] = _Linked(before, stamp(now), stamp(copy))
