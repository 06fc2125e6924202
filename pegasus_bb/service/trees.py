"""A whole folder as one task: copied by a journal, and moved only when all is there."""

from __future__ import annotations

import os
import stat
from typing import Callable, List, Optional

from pegasus_bb.errors import UsageError
from pegasus_bb.paths import is_below
from pegasus_bb.staging.digests import SHA256
from pegasus_bb.staging.failures import CopyFailed
from pegasus_bb.staging.items import Folder
from pegasus_bb.staging.journal import Journal
from pegasus_bb.staging.stage import Stage

_SHOWN = 3  # failures in a message; the rest is counted


def copy_tree(
    source: Folder, dest: Folder, journal_path: str, tell: Callable[[int], None]
) -> int:
    """Copy what is not there yet; the bytes of this try. Raises CopyFailed, OSError."""
    _check_apart(source, dest)
    failures: List[str] = []
    journal = Journal(journal_path, source.path, dest.path)
    try:
        stage = Stage(
            source.path,
            dest.path,
            journal,
            SHA256,
            lambda failure: failures.append(str(failure)),
            folders=(source, dest),
        )
        stage.run(tell)
    finally:
        journal.close()
    if failures:
        more = len(failures) - _SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        raise CopyFailed("; ".join([*failures[:_SHOWN], *rest]))
    return stage.bytes


def remove_copied(source: Folder, dest: Folder, journal_path: str) -> None:
    """Remove every file of ``source`` that the journal says is in ``dest`` as it is
    now. What came or changed since stays. Raises CopyFailed then."""
    journal = Journal(journal_path, source.path, dest.path)
    try:
        left = _emptied(source, dest, journal, "")
    finally:
        journal.close()
    if left:
        raise CopyFailed(
            f"{source.at(left)}: it came or changed after the copy, so it stays; all "
            "that was copied is whole"
        )


def _emptied(source: Folder, dest: Folder, journal: Journal, below: str) -> str:
    """The first path below ``source`` that has to stay; empty if there is none."""
    stays = ""
    for name in os.listdir(source.fd):
        path = f"{below}/{name}" if below else name
        found = os.stat(name, dir_fd=source.fd, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            inner, copy = source.enter(name), _entered(dest, name)
            left = path if copy is None else _emptied(inner, copy, journal, path)
            if not left:
                os.rmdir(name, dir_fd=source.fd)
        else:
            left = "" if _is_copied(source, dest, name, found, journal, path) else path
            if not left:
                os.unlink(name, dir_fd=source.fd)
        stays = stays or left
    return stays


def _is_copied(
    source: Folder,
    dest: Folder,
    name: str,
    found: os.stat_result,
    journal: Journal,
    path: str,
) -> bool:
    try:
        copy = os.stat(name, dir_fd=dest.fd, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode) and stat.S_ISLNK(copy.st_mode):
            text = os.readlink(name, dir_fd=source.fd)
            return text == os.readlink(name, dir_fd=dest.fd)
    except OSError:
        return False
    return journal.has(path, found, copy, digest=True)


def _entered(folder: Folder, name: str) -> Optional[Folder]:
    try:
        return folder.enter(name)
    except OSError:
        return None


def _check_apart(source: Folder, dest: Folder) -> None:
    """Raises UsageError where one lies in the other."""
    real, copy = (os.readlink(f"/proc/self/fd/{f.fd}") for f in (source, dest))
    if source.is_same(dest) or is_below(real, copy) or is_below(copy, real):
        raise UsageError(f"{source.path} -> {dest.path}: one lies in the other")
