"""The digest of a file while its bytes are copied.

The kernel moves the bytes, and a thread reads them once more, out of memory, for the
hash: that costs half of what it does to write them from where they were hashed. The
thread stays close behind. What changes meanwhile shows in the size and times of the
source, which the caller compares.
"""

from __future__ import annotations

import os
import queue
import threading
from typing import Any, Optional

from pegasus_bb.staging.digests import Digest
from pegasus_bb.staging.pour import Poured, Range, Tell, data_of, move_all

_BEHIND = 4  # steps; what is read again should still be in memory
_ALONE = 8 << 20  # bytes; below, other files keep the other core busy
_BUFFER = 256 << 10  # stays in a core's own cache


def pour_hashed(
    source: int, out: int, size: int, hollow: bool, digest: Digest, tell: Tell
) -> Poured:
    """Copy ``size`` bytes, as ``pour`` does, and hash them. Raises OSError."""
    try:
        hasher = _Hasher(source, digest) if size > _ALONE else None
    except RuntimeError:  # no room for a thread
        hasher = None
    if hasher is None:  # one after the other
        total, how = move_all(source, out, size, hollow, tell)
        return Poured(total, hash_of(source, total, hollow, digest), how)
    try:
        total, how = move_all(source, out, size, hollow, tell, hasher.take)
    finally:
        words = hasher.finish()
    if hasher.error is not None:
        raise hasher.error
    return Poured(total, words, how)


def hash_of(source: int, size: int, hollow: bool, digest: Digest) -> str:
    """The digest of the first ``size`` bytes. Raises OSError."""
    found, buffer, end = digest.new(), memoryview(bytearray(_BUFFER)), 0
    for offset, length in data_of(source, size) if hollow else [(0, size)]:
        _update(found, source, (end, offset - end, True), buffer)
        _update(found, source, (offset, length, False), buffer)
        end = offset + length
    _update(found, source, (end, size - end, True), buffer)
    return digest.words(found)


class _Hasher:
    """Hashes ranges of an open file in a thread beside, in the order they are given."""

    def __init__(self, source: int, digest: Digest) -> None:
        self.error: Optional[OSError] = None
        self._source, self._digest, self._hash = source, digest, digest.new()
        self._todo: queue.Queue[Optional[Range]] = queue.Queue(_BEHIND)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def take(self, piece: Range) -> None:
        """Waits where the thread is too far behind."""
        self._todo.put(piece)

    def finish(self) -> str:
        """The digest of all that was taken."""
        self._todo.put(None)
        self._thread.join()
        return self._digest.words(self._hash)

    def _work(self) -> None:
        buffer = memoryview(bytearray(_BUFFER))
        for piece in iter(self._todo.get, None):
            try:
                if self.error is None:
                    _update(self._hash, self._source, piece, buffer)
            except OSError as error:
                self.error = error


def _update(found: Any, source: int, piece: Range, buffer: memoryview) -> None:
    offset, length, hole = piece
    end = offset + length
    if hole and length:
        buffer[: min(length, _BUFFER)] = bytes(min(length, _BUFFER))
    while offset < end:
        view = buffer[: min(_BUFFER, end - offset)]
        size = len(view) if hole else os.preadv(source, [view], offset)
        if size == 0:
            return  # it has become shorter; the caller sees that
        found.update(view[:size])
        offset += size
