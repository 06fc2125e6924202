"""Read once: a thread hashes what this one writes.

Neither os.pwrite nor hashlib holds the interpreter, so two cores share the work, and
the digest costs no more time than the copy has to spare.
"""

from __future__ import annotations

import os
import queue
import threading
from typing import Iterator, Optional, Tuple

from pegasus_bb.staging.durable import begin_writing
from pegasus_bb.staging.pour import (
    CHUNK,
    Tell,
    data_of,
    hexdigest,
    new_hash,
    nobody,
    write_all,
)

_BUFFERS = 4  # one is filled, one written, one hashed, one to spare
_ALONE = 8 << 20  # bytes; below, other files keep the other core busy
_ZEROS = memoryview(bytes(CHUNK))


class Hasher:
    """Hashes buffers in their order, in a thread beside; hands them back to be used."""

    def __init__(self) -> None:
        self._hash = new_hash()
        self._todo: queue.SimpleQueue[Optional[Tuple[memoryview, bool]]] = (
            queue.SimpleQueue()
        )
        self._free: queue.SimpleQueue[memoryview] = queue.SimpleQueue()
        for _ in range(_BUFFERS):
            self._free.put(memoryview(bytearray(CHUNK)))
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def buffer(self) -> memoryview:
        """A buffer of CHUNK bytes that nobody needs any more."""
        return self._free.get()

    def take(self, buffer: memoryview, length: int) -> None:
        """Hash the first ``length`` bytes of ``buffer``, which is not changed then."""
        self._todo.put((buffer[:length], True))

    def zeros(self, length: int) -> None:
        """Hash a hole."""
        for begin in range(0, length, CHUNK):
            self._todo.put((_ZEROS[: min(CHUNK, length - begin)], False))

    def finish(self) -> str:
        """The digest of all that was taken."""
        self._todo.put(None)
        self._thread.join()
        return hexdigest(self._hash)

    def _work(self) -> None:
        for view, lent in iter(self._todo.get, None):
            self._hash.update(view)
            if lent:
                self._free.put(memoryview(view.obj))


def pour_hashed(
    source: int, out: int, size: int, hollow: bool, tell: Tell = nobody
) -> Tuple[int, str]:
    """Copy ``size`` bytes, and their digest. ``out`` -1: read and hash them only.

    Returns (bytes that there were, sha256:...). Raises OSError.
    """
    if size <= _ALONE and not hollow:
        return _alone(source, out, size, tell)
    hasher = Hasher()
    try:
        total = 0
        for offset, length in data_of(source, size) if hollow else [(0, size)]:
            hasher.zeros(offset - total)
            total = offset + _range(source, out, offset, length, hasher, tell)
            if total < offset + length:
                break
        else:
            hasher.zeros(size - total)
            total = size
        if out >= 0:
            os.ftruncate(out, total)
    finally:
        digest = hasher.finish()
    return total, digest


def _range(
    source: int, out: int, offset: int, length: int, hasher: Hasher, tell: Tell
) -> int:
    done = 0
    while done < length:
        buffer = hasher.buffer()
        size = os.preadv(source, [buffer[: min(CHUNK, length - done)]], offset + done)
        if size == 0:
            break
        hasher.take(buffer, size)
        if out >= 0:
            write_all(out, buffer[:size], offset + done)
            begin_writing(out, offset + done, size)
        tell(size)
        done += size
    return done


def _alone(source: int, out: int, size: int, tell: Tell) -> Tuple[int, str]:
    hasher = new_hash()
    total = 0
    for data in _read(source, size):
        hasher.update(data)
        if out >= 0:
            write_all(out, memoryview(data), total)
            begin_writing(out, total, len(data))
        total += len(data)
        tell(len(data))
    return total, hexdigest(hasher)


def _read(source: int, size: int) -> Iterator[bytes]:
    offset = 0
    while offset < size:
        data = os.pread(source, min(CHUNK, size - offset), offset)
        if not data:
            return
        yield data
        offset += len(data)
