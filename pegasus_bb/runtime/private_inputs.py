"""The inputs in a job's private folder: links to closed files, or copies.

Many jobs read one file, and a copy for each would cost the tier what it is to win. So
an input is a link to the file in the workflow directory, and that file loses its
owner's right to write: a task may list, rename or delete the link, and one that writes
to it fails. Root may write all the same, so each file is looked at again afterwards.
"""

from __future__ import annotations

import itertools
import os
import stat

from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.refusals import (
    SYMBOLIC_LINK,
    close_to_writing,
    keep_mode,
    original_mode,
    warn_refused,
)
from pegasus_bb.runtime.scratch_links import LinkFailed

_SMALL = 1 << 20  # bytes, read at once
_LOOKED_AT = 10_000  # files of a task that has failed
_COPY = (
    "the pegasus profile `bb.inputs: copy` of the job or its transformation gives it a "
    "copy of its own"
)


class _State(NamedTuple):
    device: int
    inode: int
    size: int
    changed: int  # ns

    @classmethod
    def of(cls, found: os.stat_result) -> _State:
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


class LinkedInputs:
    """The inputs that are links, and what their files were before the task."""

    def __init__(self) -> None:
        self._before: dict[str, _State] = {}
        self._sizes: set[int] = set()  # of files that their maker could write

    def add(self, source: str, found: os.stat_result) -> None:
        if not stat.S_ISDIR(found.st_mode):  # its time tells of new names only
            self._before[source] = _State.of(found)
            if original_mode(found.st_mode) & stat.S_IWUSR:
                self._sizes.add(found.st_size)

    def changed(self) -> str:
        """A message about inputs that the task has changed in place, or empty."""
        before = self._before.items()
        return changed_inputs([path for path, was in before if not _is_same(path, was)])

    def closed_copy(self, folder: str) -> str:
        """The path of a file in ``folder`` that looks like a copy of an input which its
        task could not write to, or empty: ``cp`` keeps that a file is closed."""
        if not self._sizes:
            return ""
        walk = os.walk(folder)
        paths = (
            os.path.join(place, name) for place, _, names in walk for name in names
        )
        for path in itertools.islice(paths, _LOOKED_AT):
            try:
                found = os.lstat(path)
            except OSError:  # a process that the task has left removes it
                continue
            if self._is_closed_copy(found):
                return path
        return ""

    def _is_closed_copy(self, found: os.stat_result) -> bool:
        closed = stat.S_ISREG(found.st_mode) and not found.st_mode & stat.S_IWUSR
        return closed and found.st_size in self._sizes

    def open_copy(self, path: str) -> None:
        """Let the owner of ``path`` write to it, if it is a copy of an input which he
        could write to at first. Raises OSError."""
        found = os.lstat(path)
        marked = found.st_mode & stat.S_ISVTX  # a further name of the input itself
        if self._is_closed_copy(found) and not marked:
            keep_mode(path, found.st_mode | stat.S_IWUSR, path)

    def advice(self) -> str:
        """For a task that has failed: perhaps it could not write to an input."""
        if not self._before:
            return ""
        return f"if it was refused to write to an input: {_COPY}"


def changed_inputs(paths: list[str]) -> str:
    """A message about ``paths``, inputs that the task has changed in place; empty if
    there are none."""
    if not paths:
        return ""
    from pegasus_bb.core.units import abbreviate

    listed = abbreviate([os.path.basename(path) for path in paths])
    return (
        f"{listed}: the task has changed its input in place, which other jobs may "
        f"read as well; {_COPY}"
    )


def _is_same(path: str, before: _State) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    now = _State.of(found)
    own = found.st_uid == os.geteuid() != 0
    if own and not found.st_mode & stat.S_IWUSR:  # touched at most
        now = now._replace(changed=before.changed)
    return now == before


def bring(
    lfn: str,
    source: str,
    here: str,
    linked: LinkedInputs,
    *,
    below: int,
    whole: bool,
    foreign: bool = False,
) -> None:
    """Make ``here`` a copy of ``source`` if ``whole`` is set, or if it is a file of at
    most ``below`` bytes; else a link to it. A folder is a new one that has its files in
    this way. ``foreign``: the file is the user's own, and is not closed to writing.
    Raises LinkFailed."""
    try:
        own = found = os.lstat(source)
        if stat.S_ISLNK(own.st_mode):
            found = os.stat(source)
        if whole or (stat.S_ISREG(found.st_mode) and found.st_size <= below):
            _copy(source, here, found)
        elif stat.S_ISDIR(found.st_mode):
            foreign = foreign or stat.S_ISLNK(own.st_mode)
            _bring_folder(lfn, source, here, linked, below=below, foreign=foreign)
        else:
            closes = stat.S_ISREG(own.st_mode) and not foreign
            _link(source, here, found, linked, closes=closes)
    except OSError as error:
        raise LinkFailed(
            f"{lfn}: the input cannot be brought: {error.filename or source}: "
            f"{error.strerror}"
        ) from error


def _link(
    source: str,
    here: str,
    found: os.stat_result,
    linked: LinkedInputs,
    *,
    closes: bool,
) -> None:
    """Make ``here`` a link to ``source``, or a copy where the file system has no links.
    Raises OSError."""
    if closes:
        close_to_writing(source, found.st_mode)
    try:
        os.symlink(source, here)
    except FileExistsError:
        raise
    except OSError as error:
        warn_refused(SYMBOLIC_LINK, here, error)
        _copy(source, here, found)
    else:
        linked.add(source, found)


def _bring_folder(
    lfn: str,
    source: str,
    here: str,
    linked: LinkedInputs,
    *,
    below: int,
    foreign: bool,
) -> None:
    """A link to a folder would let the task change what is in it. Raises OSError,
    LinkFailed."""
    from pegasus_bb.runtime.staging.folder_links import Links

    links = Links(source, ())
    folders = [(source, here)]
    for folder, new in folders:
        os.mkdir(new)
        with os.scandir(folder) as entries:
            for entry in entries:
                to = os.path.join(new, entry.name)
                if entry.is_symlink():
                    os.symlink(links.copied_link(entry.path).target, to)
                elif entry.is_dir():
                    folders.append((entry.path, to))
                else:
                    bring(
                        lfn,
                        entry.path,
                        to,
                        linked,
                        below=below,
                        whole=False,
                        foreign=foreign,
                    )
    for folder, new in folders:
        keep_mode(new, os.stat(folder).st_mode | stat.S_IRWXU, new)


def _copy(source: str, here: str, found: os.stat_result) -> None:
    """Copy a file or a folder with its mode and times; it need not last. Raises
    OSError."""
    if not stat.S_ISREG(found.st_mode):
        from pegasus_bb.runtime.staging.folder_lfns import copy_path

        copy_path(source, here, digest=False)
        return
    if found.st_size > _SMALL:
        _copy_large(source, here)
    else:
        with open(source, "rb", buffering=0) as file:
            data = file.read()
        with open(here, "xb", buffering=0) as copy:
            copy.write(data)
    keep_mode(here, original_mode(found.st_mode), here)
    os.utime(here, ns=(found.st_atime_ns, found.st_mtime_ns))


def _copy_large(source: str, here: str) -> None:
    """Copy by a reflink where the file system has them."""
    from pegasus_bb.runtime.staging.onefile import open_source
    from pegasus_bb.runtime.staging.pour import is_sparse, pour

    handle = open_source(source)
    try:
        found = os.fstat(handle)
        with open(here, "xb", buffering=0) as copy:
            sparse = is_sparse(found)
            pour(handle, copy.fileno(), found.st_size, sparse=sparse, digest=None)
    finally:
        os.close(handle)
