"""A map of bytes that spills from memory to disk, for millions of files.

The latest entries are in memory. When these are many, they go to a private file of
SQLite in TMPDIR, which is gone with the process. A Python without SQLite keeps all of
them in memory.
"""

from __future__ import annotations

import errno
from typing import Any, Dict, Optional

_MANY = 20_000  # in memory: some 10 MiB
_CACHE = 8 << 10  # KiB of the file


class SpillMap:
    """Bytes by key. Every call raises OSError if there is no room for the file."""

    def __init__(self) -> None:
        self._most: float = _MANY
        self._here: Dict[bytes, bytes] = {}
        self._file: Optional[_File] = None

    def get(self, key: bytes) -> Optional[bytes]:
        value = self._here.get(key)
        if value is None and self._file is not None:
            return self._file.get(key)
        return value

    def put(self, key: bytes, value: bytes) -> None:
        self._here[key] = value
        if len(self._here) >= self._most:
            self._write()

    def discard(self, key: bytes) -> None:
        self._here.pop(key, None)
        if self._file is not None:  # an older value may be there
            self._file.discard(key)

    def _write(self) -> None:
        if self._file is None:
            try:
                self._file = _File()
            except ImportError:
                self._most = float("inf")
                return
        self._file.put(self._here)
        self._here = {}


class _File:
    """Raises OSError, and ImportError where Python has no SQLite."""

    def __init__(self) -> None:
        import sqlite3  # few trees need it, and few Pythons lack it

        self._error = sqlite3.Error
        self._base = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for line in (
            "PRAGMA journal_mode = OFF",
            f"PRAGMA cache_size = -{_CACHE}",
            "CREATE TABLE spilled (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID",
            "BEGIN",  # one transaction, never ended
        ):
            self._do(line)

    def get(self, key: bytes) -> Optional[bytes]:
        found = self._do("SELECT value FROM spilled WHERE key = ?", (key,)).fetchone()
        return None if found is None else bytes(found[0])

    def put(self, values: Dict[bytes, bytes]) -> None:
        try:
            self._base.executemany(
                "INSERT OR REPLACE INTO spilled VALUES (?, ?)", sorted(values.items())
            )
        except self._error as error:
            raise _as_os_error(error) from error

    def discard(self, key: bytes) -> None:
        self._do("DELETE FROM spilled WHERE key = ?", (key,))

    def _do(self, line: str, values: Any = ()) -> Any:
        try:
            return self._base.execute(line, values)
        except self._error as error:
            raise _as_os_error(error) from error


def _as_os_error(error: Exception) -> OSError:
    return OSError(
        errno.ENOMEM,  # not ENOSPC: it is not the destination that is full
        f"what is to be remembered of files with several names: {error}; TMPDIR says "
        "where there is room for it",
    )
