"""The journal of `pegasus-bb stage`: a line per copied file, so that a later try
resumes.

A line is valid only while both files are unchanged: device, inode, size, mtime and
ctime. Lines are appended when a file is durable under its name, and an incomplete line
is skipped. So a crash loses the lines of about a second, and no line is ever wrong. In
memory a line takes 8 bytes: a million files need 8 MB.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import stat
from array import array
from bisect import bisect_left
from json.encoder import (
    encode_basestring_ascii as quoted,  # of dumps, without its overhead
)

from pegasus_bb.core import ledger
from pegasus_bb.core.errors import UsageError, advice_on
from pegasus_bb.core.files import read_journal
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.staging.durable import JournalPace
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.items import Landed, stamp
from pegasus_bb.runtime.staging.parts import is_tag

if TYPE_CHECKING:
    from typing import Any

_MANY = 5000  # lines per write
# Six times as fast as dumps.
_LINE = (
    '{"name": %s, "size": %d, "source": [%d, %d, %d, %d], "copy": [%d, %d, %d, %d]%s}\n'
)


def journal_path(source: str, dest: str) -> str:
    """One per pair of places, beside the ledger."""
    pair = f"{os.path.realpath(source)}\0{os.path.realpath(dest)}"
    name = hashlib.sha256(os.fsencode(pair)).hexdigest()[:16]
    return os.path.join(os.path.dirname(ledger.path()), "stage", f"{name}.jsonl")


class StageJournal:
    """The journal of one source and destination, which one process uses at a time."""

    def __init__(self, path: str, source: str, dest: str) -> None:
        """Raises UsageError if another process has it, or if it cannot be opened."""
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
            self._file = os.open(path, flags, 0o600)
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                os.close(self._file)
                raise OSError(errno.EINVAL, "it is no regular file")
        except OSError as error:
            raise UsageError(
                f"{path}: the journal of this copy cannot be opened: {error.strerror}; "
                f"{advice_on(error, 'mend that')}, or set XDG_STATE_HOME to another "
                "folder that you can write to"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._file)
            raise UsageError(
                f"{path}: another pegasus-bb copies {source} to {dest} at this moment"
            ) from error
        except OSError as error:
            os.close(self._file)
            raise UsageError(
                f"{path}: the journal of this copy cannot be locked: {error.strerror}; "
                "set XDG_STATE_HOME to a folder on a file system with locks"
            ) from error
        self._done = array("Q")
        self.tags: list[str] = []  # of unfinished tries: temporary files may exist
        self._lines: list[str] = []
        self._pace = JournalPace(_MANY)
        self._read()

    def begin(self, tag: str) -> None:
        """Note the start of a try; ``tag`` is in the names of its temporary files."""
        self._append(json.dumps({"begun": tag}) + "\n")
        self.flush()

    @property
    def is_new(self) -> bool:
        return not self._done

    def has(
        self, name: str, source: os.stat_result, copy: os.stat_result, *, digest: bool
    ) -> bool:
        """Whether a line proves that ``copy`` is a copy of ``source`` in their present
        state.

        ``digest``: only a line with a digest counts.
        """
        if source.st_size != copy.st_size:
            return False
        state = name, copy.st_size, stamp(source), stamp(copy)
        return self._holds(_key(*state, digest=True)) or (
            not digest and self._holds(_key(*state, digest=False))
        )

    def _holds(self, key: int) -> bool:
        at = bisect_left(self._done, key)
        return at < len(self._done) and self._done[at] == key

    def note(self, name: str, landed: Landed) -> None:
        digest = f', "digest": "{landed.digest}"' if landed.digest else ""
        numbers = landed.size, *landed.source, *landed.stamp
        self._append(_LINE % (quoted(name), *numbers, digest), landed.size)

    def flush(self) -> None:
        """Make all lines durable. Raises CopyFailed."""
        data = memoryview("".join(self._lines).encode())
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            raise CopyFailed(
                f"{self.path}: the journal of this copy cannot be written: "
                f"{error.strerror}; {advice_on(error, 'mend that')} and run it again"
            ) from error
        self._lines = []

    def end(self) -> None:
        self._append(json.dumps({"ended": True}) + "\n")
        self.flush()

    def close(self) -> None:
        os.close(self._file)

    def _append(self, line: str, size: int = 0) -> None:
        self._lines.append(line)
        if self._pace.is_due(len(self._lines), size):
            self.flush()

    def _read(self) -> None:
        for entry in read_journal(self.path):
            if "begun" in entry:
                if is_tag(entry["begun"]):  # else it would name other files
                    self.tags.append(entry["begun"])
            elif "ended" in entry:
                self.tags = []
            elif isinstance(entry.get("name"), str):
                self._done.append(
                    _key(
                        entry["name"],
                        entry.get("size"),
                        entry.get("source"),
                        entry.get("copy"),
                        digest="digest" in entry,
                    )
                )
        self._done = array("Q", sorted(self._done))
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            self._lines.append("\n")  # end an incomplete line of a crash


def _key(name: str, size: Any, source: Any, copy: Any, *, digest: bool) -> int:
    text = json.dumps([name, size, source, copy, digest])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
