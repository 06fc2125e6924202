"""Older dumps leave the buffer when they are safe; the newest stays."""

from __future__ import annotations

import contextlib
import os

from pegasus_bb.runtime.draining.dumps import Dump
from pegasus_bb.runtime.draining.safe import Arrivals
from pegasus_bb.runtime.draining.scan import Version

ALL = 0  # dumps that stay


class WatchedBuffer:
    """The dumps on it that are complete, safe or not."""

    def __init__(self, folder: str, arrivals: Arrivals, kept: int) -> None:
        """``kept``: dumps that stay; ALL: nothing is ever removed."""
        self._folder = folder
        self._arrivals = arrivals
        self._kept = kept
        self._dumps: list[Dump] = []
        self._written_again: set[str] = set()  # such files stay: they will be once more

    def add(self, dump: Dump) -> None:
        for earlier in self._dumps:
            self._written_again |= earlier.files.keys() & dump.files.keys()
        self._dumps.append(dump)

    def remove_older(self) -> int:
        """Remove what is safe, and older than the dumps that stay: bytes."""
        removed = sum(self._remove(dump) for dump in self._older())
        self._dumps = [dump for dump in self._dumps if self._is_there(dump)]
        return removed

    def _older(self) -> list[Dump]:
        full = [dump.number for dump in self._dumps if dump.is_full]
        if self._kept == ALL or len(full) <= self._kept:
            return []
        return [dump for dump in self._dumps if dump.number < full[-self._kept]]

    def _remove(self, dump: Dump) -> int:
        files: dict[Version, list[str]] = {}
        for name, version in dump.files.items():
            if name not in self._written_again:
                files.setdefault(version, []).append(name)
        return sum(self._remove_file(*each) for each in files.items())

    def _remove_file(self, version: Version, names: list[str]) -> int:
        """All of its names at once, since to remove one changes the ctime of all."""
        if not all(self._arrivals.is_safe(name, version) for name in names):
            return 0
        with contextlib.suppress(OSError):  # gone, or not ours to remove
            for name in names:
                os.unlink(os.path.join(self._folder, name))
                self._remove_empty(os.path.dirname(name))
            return version[-1]
        return 0

    def _remove_empty(self, below: str) -> None:
        """That of the file, and those above it, up to the watched one."""
        with contextlib.suppress(OSError):  # it has other files
            while below:
                os.rmdir(os.path.join(self._folder, below))
                below = os.path.dirname(below)

    def _is_there(self, dump: Dump) -> bool:
        """What is gone, by whomever, is forgotten."""
        there = False
        for name, version in dump.files.items():
            if os.path.lexists(os.path.join(self._folder, name)):
                there = True
            else:
                self._arrivals.forget(version)
        return there
