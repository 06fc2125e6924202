"""Older dumps leave the buffer when they are safe; the newest stays."""

from __future__ import annotations

import contextlib
import os
from typing import Dict, Iterator, List, Set

from pegasus_bb.draining.dumps import Dump
from pegasus_bb.draining.safe import Arrivals
from pegasus_bb.draining.scan import Version

ALL = 0  # dumps that stay


class Buffer:
    """The dumps on it that are complete, safe or not."""

    def __init__(self, folder: str, arrivals: Arrivals, kept: int) -> None:
        """``kept``: dumps that stay; ALL: nothing is ever removed."""
        self._folder, self._arrivals, self._kept = folder, arrivals, kept
        self._dumps: List[Dump] = []
        self._written_again: Set[str] = set()  # such files stay: they will be once more

    def add(self, dump: Dump) -> None:
        for earlier in self._dumps:
            self._written_again |= earlier.files.keys() & dump.files.keys()
        self._dumps.append(dump)

    def remove_older(self) -> int:
        """Remove what is safe, and older than the dumps that stay: bytes."""
        removed = sum(self._remove(dump) for dump in self._older())
        self._dumps = [dump for dump in self._dumps if self._is_there(dump)]
        return removed

    def _older(self) -> List[Dump]:
        full = [dump.number for dump in self._dumps if dump.is_full]
        if self._kept == ALL or len(full) <= self._kept:
            return []
        return [dump for dump in self._dumps if dump.number < full[-self._kept]]

    def _remove(self, dump: Dump) -> int:
        size = 0
        for name, version in self._removable(dump.files):
            path = os.path.join(self._folder, name)
            with contextlib.suppress(OSError):  # gone, or not ours to remove
                found = os.lstat(path).st_size
                if self._arrivals.is_safe(name, version):
                    os.unlink(path)
                    size += found
                    self._remove_empty(os.path.dirname(name))
        return size

    def _removable(self, files: Dict[str, Version]) -> Iterator[tuple[str, Version]]:
        for name, version in files.items():
            if name not in self._written_again:
                yield name, version

    def _remove_empty(self, below: str) -> None:
        """That of the file, and those above it, up to the watched one."""
        while below:
            os.rmdir(os.path.join(self._folder, below))
            below = os.path.dirname(below)

    def _is_there(self, dump: Dump) -> bool:
        """What is gone, by whomever, is forgotten."""
        there = False
        for name in dump.files:
            if os.path.lexists(os.path.join(self._folder, name)):
                there = True
            else:
                self._arrivals.forget(name)
        return there
