"""The items and outcomes of the mover, and the interface of its copiers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Union

from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.hints import NO_HINT
from pegasus_bb.runtime.staging.moves import Tell
from pegasus_bb.runtime.staging.pour import is_sparse

SPARSE = 64 << 10  # bytes; for smaller files holes are not worth a system call


class Folder:
    """An open folder, closed when its last user is gone: a walk needs few at a time.

    Names are looked up in the folder itself, so that no path is too long, and a link
    that replaces a folder of the path meanwhile has no effect.
    """

    __slots__ = ("device", "fd", "inode", "is_new", "path")

    def __init__(self, fd: int, path: str) -> None:
        self.fd = fd
        self.path = path
        self.is_new = False  # made by this process
        status = os.fstat(fd)
        self.device = status.st_dev
        self.inode = status.st_ino

    def __del__(self) -> None:
        os.close(self.fd)

    @classmethod
    def open(cls, path: str) -> Folder:
        """The folder at ``path``, through links. Raises OSError."""
        return cls(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), path)

    def enter(self, name: str) -> Folder:
        """The subfolder ``name``, which may not be a link. Raises OSError."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        return Folder(os.open(name, flags, dir_fd=self.fd), self.at(name))

    def make(self, name: str, mode: int) -> Folder:
        """The subfolder ``name``, made with ``mode`` if it is not there; not a link.
        Raises OSError."""
        is_new = True
        try:
            os.mkdir(name, mode, dir_fd=self.fd)
        except FileExistsError:
            is_new = False  # what is no folder is refused below
        made = self.enter(name)
        made.is_new = is_new
        return made

    def lstat(self, name: str) -> os.stat_result:
        """The status of ``name``; of a link, its own. Raises OSError."""
        return os.stat(name, dir_fd=self.fd, follow_symlinks=False)

    def unlink(self, name: str) -> None:
        """Remove the file or link ``name``. Raises OSError."""
        os.unlink(name, dir_fd=self.fd)

    def is_same(self, other: Folder) -> bool:
        return (self.device, self.inode) == (other.device, other.inode)

    def at(self, name: str) -> str:
        """The path of ``name`` in this folder, for messages."""
        return f"{self.path}/{name}" if self.path != "/" else f"/{name}"


class Item(NamedTuple):
    source: Folder
    name: str
    dest: Folder
    as_name: str
    size: int  # bytes, as far as is known
    sparse: bool = False  # it may have holes to keep
    mark: Any = None  # for the caller
    hint: int = NO_HINT  # hints.py: how long its bytes will live

    @property
    def source_path(self) -> str:
        return self.source.at(self.name)

    @property
    def dest_path(self) -> str:
        return self.dest.at(self.as_name)


def item_of(
    source: Folder,
    name: str,
    dest: Folder,
    *,
    as_name: str,
    status: os.stat_result,
    mark: Any,
    hint: int = NO_HINT,
) -> Item:
    sparse = status.st_size >= SPARSE and is_sparse(status)
    return Item(source, name, dest, as_name, status.st_size, sparse, mark, hint)


class Landed(NamedTuple):
    size: int  # bytes
    digest: str  # sha256:..., or "" if not asked for
    stamp: list[int]  # device, inode, mtime_ns, ctime_ns of the copy
    source: list[int]  # the same of the source when it was copied

    def as_noted(self) -> dict[str, Any]:
        """The form of the manifest and of the staging service."""
        keys = ("size", "digest", "stat", "source")
        return dict(zip(keys, self))

    @classmethod
    def of_note(cls, note: Mapping[str, Any]) -> Landed:
        """The reverse of ``as_noted``. Raises KeyError."""
        return cls(note["size"], note["digest"], note["stat"], note["source"])


class CopyOutcome(NamedTuple):
    item: Item
    landed: Landed | None
    failure: CopyFailed | None = None


def stamp(status: os.stat_result) -> list[int]:
    """Numbers that change with the file; a program can reset mtime, but not ctime."""
    return [status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]


class Rescheduled:
    """The answer for a file that is copied again, in a batch of its own."""


Answer = Union[Landed, CopyFailed, Rescheduled]


class Batch:
    """Items that one call copies and one syncfs makes durable."""

    def __init__(self, items: Sequence[Item], copier: Copier) -> None:
        self.items = items
        self.copier = copier
        self.results: Any = None  # the copier's data between copy and rename
        self.broken: dict[int, OSError] = {}  # id of an item -> error of its sync


class Copier:
    """Copies files to temporary names and, when those are durable, renames them.

    The answer of a file has its error; nothing is raised. Several threads share a
    copier.
    """

    limit = 0  # bytes of the largest file that it accepts

    def copy(self, batch: Batch, tag: str, *, follow: bool, tell: Tell) -> None:
        """Copy every item to its temporary name."""
        raise NotImplementedError

    def changed(self, batch: Batch) -> list[Item]:
        """Items that changed before or during the copy."""
        return []

    def rename(self, batch: Batch, tag: str) -> list[Answer]:
        """Rename all that were copied; returns the answers in order."""
        raise NotImplementedError
