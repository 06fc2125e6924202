"""The digest of a file while its bytes are copied.

If processors are idle, the kernel moves the bytes, and a thread close behind reads them
again, from memory, for the hash. If copies keep all processors busy, each block is read
once, hashed and written: less work, but in sequence. The caller compares size and times
of the source afterwards, and so detects changes.
"""

from __future__ import annotations

import os
import queue
import threading

from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.staging.digests import Digest
from pegasus_bb.runtime.staging.durable import begin_writing
from pegasus_bb.runtime.staging.moves import (
    Range,
    Tell,
    data_of,
    move,
    move_all,
    write_all,
)
from pegasus_bb.runtime.staging.segments import Segments

if TYPE_CHECKING:
    from typing import Any

_BEHIND = 4  # steps; data that is read again should still be in memory
_ALONE = 8 << 20  # bytes; below this, other files keep the other core busy
_BUFFER = 512 << 10  # stays in a core's own cache
# For large writes the kernel looks for large pieces of memory. In a guest whose host
# reclaims free memory there are none, and the writes take twice the CPU time.
_PIECE = 64 << 10
_HUGE = 1 << 30  # bytes of holes
BLOCK = 64 << 10  # never change it: digests of earlier runs would differ
_ZEROS = bytes(BLOCK)


def pour_hashed(
    source: int,
    out: int,
    size: int,
    *,
    sparse: bool,
    digest: Digest,
    tell: Tell,
    segments: Segments | None = None,
) -> tuple[int, str]:
    """Copy and hash ``size`` bytes; returns (bytes, digest). Raises OSError."""
    with _Hasher(source, digest, in_thread=size > _ALONE) as hasher:
        total = move_all(
            source,
            out,
            size,
            sparse=sparse,
            tell=tell,
            hole=hasher.take,
            by=hasher.move,
            segments=segments,
        )
    if hasher.error is not None:
        raise hasher.error
    return total, hasher.text()


def has_huge_holes(source: int, size: int, *, sparse: bool) -> bool:
    """Whether the zeros in holes would take longer to hash than a person waits."""
    if not sparse or size <= _HUGE:
        return False
    return size - sum(length for _, length in data_of(source, size)) > _HUGE


def hash_blocks(source: int, size: int, digest: Digest) -> str:
    """The digest of the size, and of each block that has a byte other than zero with
    its offset: the same however the file's holes lie. Raises OSError."""
    hasher = digest.new()
    end = 0
    for offset, length in data_of(source, size):
        begin = max(end, offset - offset % BLOCK)
        end = min(size, offset + length + -(offset + length) % BLOCK)
        for at in range(begin, end, BLOCK):
            data = _read(source, min(BLOCK, end - at), at)
            if data != _ZEROS[: len(data)]:
                hasher.update(at.to_bytes(8, "big") + data)
    hasher.update(size.to_bytes(8, "big"))
    return digest.text(hasher, by_blocks=True)


def _read(source: int, length: int, offset: int) -> bytes:
    data = os.pread(source, length, offset)
    while data and len(data) < length:
        more = os.pread(source, length - len(data), offset + len(data))
        if not more:
            break  # the file has become shorter; the caller detects that
        data += more
    return data


def hash_of(source: int, size: int, *, sparse: bool, digest: Digest) -> str:
    """The digest of the first ``size`` bytes. Raises OSError."""
    hasher = digest.new()
    buffer = memoryview(bytearray(_BUFFER))
    end = 0
    for offset, length in data_of(source, size) if sparse else [(0, size)]:
        _update(hasher, source, (end, offset - end, True), buffer)
        _update(hasher, source, (offset, length, False), buffer)
        end = offset + length
    _update(hasher, source, (end, size - end, True), buffer)
    return digest.text(hasher)


class _HashedFiles:
    """Counts the files that this process hashes, to know whether each has two
    processors."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files = 0
        self._most = max(1, len(os.sched_getaffinity(0)) // 2)

    def count(self, more: int) -> None:
        with self._lock:
            self._files += more

    @property
    def are_too_many(self) -> bool:
        return self._files > self._most


_HASHED_FILES = _HashedFiles()


class _Hasher:
    """Hashes ranges of an open file in order: in a thread, or while they are moved."""

    def __init__(self, source: int, digest: Digest, *, in_thread: bool) -> None:
        self.error: OSError | None = None
        self._source = source
        self._digest = digest
        self._hash = digest.new()
        self._buffer = memoryview(bytearray(_BUFFER))
        self._todo: queue.Queue[Range | None] = queue.Queue(_BEHIND)
        self._thread = _start_thread(self._work) if in_thread else None

    def __enter__(self) -> _Hasher:
        _HASHED_FILES.count(1)
        return self

    def __exit__(self, *_: object) -> None:
        _HASHED_FILES.count(-1)
        if self._thread is not None:
            self._todo.put(None)
            self._thread.join()

    def text(self) -> str:
        return self._digest.text(self._hash)

    def take(self, piece: Range) -> None:
        """Hash a range that is not moved. Waits if the thread is too far behind."""
        if self._thread is None:
            _update(self._hash, self._source, piece, self._buffer)
        else:
            self._todo.put(piece)

    def move(self, source: int, out: int, offset: int, length: int, tell: Tell) -> int:
        if self._thread is not None and not _HASHED_FILES.are_too_many:
            moved = move(source, out, offset, length, tell)
            self._todo.put((offset, moved, False))
            return moved
        self._todo.join()  # earlier ranges are hashed, and the buffer is free
        return self._read_hash_write(out, offset, length, tell)

    def _read_hash_write(self, out: int, offset: int, length: int, tell: Tell) -> int:
        done = 0
        while done < length:
            view = self._buffer[: length - done]
            size = os.preadv(self._source, [view], offset + done)
            if size == 0:
                break
            self._hash.update(view[:size])
            self._write(out, view[:size], offset + done)
            done += size
        begin_writing(out, offset, done)
        tell(done)
        return done

    @staticmethod
    def _write(out: int, view: memoryview, offset: int) -> None:
        for begin in range(0, len(view), _PIECE):
            write_all(out, view[begin : begin + _PIECE], offset + begin)

    def _work(self) -> None:
        for piece in iter(self._todo.get, None):
            try:
                if self.error is None:
                    _update(self._hash, self._source, piece, self._buffer)
            except OSError as error:
                self.error = error
            finally:
                self._todo.task_done()


def _start_thread(work: Any) -> threading.Thread | None:
    thread = threading.Thread(target=work, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no thread can be started
        return None
    return thread


def _update(hasher: Any, source: int, piece: Range, buffer: memoryview) -> None:
    offset, length, hole = piece
    end = offset + length
    if hole and length:
        buffer[: min(length, _BUFFER)] = bytes(min(length, _BUFFER))
    while offset < end:
        view = buffer[: min(_BUFFER, end - offset)]
        size = len(view) if hole else os.preadv(source, [view], offset)
        if size == 0:
            return  # the file has become shorter; the caller detects that
        hasher.update(view[:size])
        offset += size
