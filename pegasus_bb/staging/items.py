"""What the mover is given, what it answers, and who copies a batch of files."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

from pegasus_bb.staging.failures import CopyFailed
from pegasus_bb.staging.hints import NO_HINT
from pegasus_bb.staging.moves import Tell
from pegasus_bb.staging.pour import is_hollow

HOLLOW = 64 << 10  # bytes; holes of smaller files are not worth a call for each


class Folder:
    """An open folder, closed with its last user: a walk needs few at a time.

    Names are looked up in it, so no path gets too long, and a link that is put into a
    path meanwhile leads nowhere.
    """

    __slots__ = ("device", "fd", "inode", "path")

    def __init__(self, fd: int, path: str) -> None:
        self.fd, self.path = fd, path
        found = os.fstat(fd)
        self.device, self.inode = found.st_dev, found.st_ino

    def __del__(self) -> None:
        os.close(self.fd)

    @classmethod
    def open(cls, path: str) -> Folder:
        """The folder at ``path``, through links. Raises OSError."""
        return cls(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), path)

    def enter(self, name: str) -> Folder:
        """The folder ``name`` in it; a link is refused. Raises OSError."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        return Folder(os.open(name, flags, dir_fd=self.fd), self.at(name))

    def is_same(self, other: Folder) -> bool:
        return (self.device, self.inode) == (other.device, other.inode)

    def at(self, name: str) -> str:
        """The path of ``name`` in it, for people."""
        return f"{self.path}/{name}" if self.path != "/" else f"/{name}"


class Item(NamedTuple):
    source: Folder
    name: str
    dest: Folder
    as_name: str
    size: int  # bytes, as far as is known
    hollow: bool = False  # it may have holes worth keeping
    mark: Any = None  # the caller's own
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
    as_name: str,
    found: os.stat_result,
    mark: Any,
    hint: int = NO_HINT,
) -> Item:
    hollow = found.st_size >= HOLLOW and is_hollow(found)
    return Item(source, name, dest, as_name, found.st_size, hollow, mark, hint)


class Landed(NamedTuple):
    size: int  # bytes
    digest: str  # sha256:..., or "" if not asked for
    stamp: List[int]  # device, inode, mtime_ns, ctime_ns of the copy
    source: List[int]  # of the source, when it was copied

    def as_noted(self) -> Dict[str, Any]:
        """As the manifest and the staging service tell of it."""
        keys = ("size", "digest", "stat", "source")
        return dict(zip(keys, self))

    @classmethod
    def of_note(cls, note: Mapping[str, Any]) -> Landed:
        """The reverse. Raises KeyError."""
        return cls(note["size"], note["digest"], note["stat"], note["source"])


class Outcome(NamedTuple):
    item: Item
    landed: Optional[Landed]
    failure: Optional[CopyFailed] = None


def stamp(found: os.stat_result) -> List[int]:
    """What changes when a file does; programs can set back mtime, but not ctime."""
    return [found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns]


class Elsewhere:
    """The answer for a file that goes on its way by itself, in a batch of its own."""


Answer = Union[Landed, CopyFailed, Elsewhere]


class Batch:
    """Items that one call copies, and that one syncfs makes durable."""

    def __init__(self, items: Sequence[Item], copier: Copier) -> None:
        self.items, self.copier = items, copier
        self.results: Any = None  # what the copier keeps from copying to renaming
        self.broken: Dict[int, OSError] = {}  # id of an item that a sync has failed for


class Copier:
    """Brings files to temporary names and, once those are durable, to their own.

    Nothing is raised for a file: what became of it is in its answer. Several threads
    use one.
    """

    limit = 0  # bytes of the largest file that it takes

    def copy(self, batch: Batch, tag: str, follow: bool, tell: Tell) -> None:
        """Copy every item to its temporary name."""
        raise NotImplementedError

    def changed(self, batch: Batch) -> List[Item]:
        """Those that were not what they were thought to be, or did not stay so."""
        return []

    def rename(self, batch: Batch, tag: str) -> List[Answer]:
        """Give all that were copied their names; what became of each, in order."""
        raise NotImplementedError
