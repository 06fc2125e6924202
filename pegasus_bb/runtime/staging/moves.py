"""Moves the bytes of one open file to another by the best call of the kernel.

The order is copy_file_range, sendfile, read and write. Each continues where the one
before stopped, because kernels and file systems may refuse late, or silently stop
early. Holes stay holes.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator

from pegasus_bb.runtime.staging.durable import begin_writing
from pegasus_bb.runtime.staging.segments import Segments

CHUNK = 1 << 20
STEP = 8 << 20  # bytes per call, after which the kernel starts to write them out
_REFUSED = (
    errno.EXDEV,
    errno.EINVAL,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
    errno.ENOTTY,
    errno.EPERM,
    errno.EBADF,
    errno.ETXTBSY,
    errno.EOVERFLOW,
)
Tell = Callable[[int], None]  # bytes that have just been copied
Range = tuple[int, int, bool]  # offset, bytes, is a hole
Take = Callable[[Range], None]
Way = Callable[[int, int, int, int], int]  # source, out, offset, length -> bytes moved
Move = Callable[[int, int, int, int, Tell], int]


def data_of(source: int, size: int) -> Iterator[tuple[int, int]]:
    """(offset, length) of the data between holes; the whole file if holes are
    unknown."""
    offset = 0
    while offset < size:
        try:
            begin = os.lseek(source, offset, os.SEEK_DATA)
            end = min(size, os.lseek(source, begin, os.SEEK_HOLE))
        except OSError as error:
            if error.errno != errno.ENXIO:  # ENXIO: nothing but a hole from here on
                yield offset, size - offset
            return
        if begin >= size:
            return
        yield begin, end - begin
        offset = end


def write_all(out: int, view: memoryview, offset: int) -> None:
    while view:
        done = os.pwrite(out, view, offset)
        view = view[done:]
        offset = offset + done


def move(source: int, out: int, offset: int, length: int, tell: Tell) -> int:
    """Move a range; returns the bytes moved. Raises OSError."""
    done = 0
    for way in _ways():
        done += _by(way, source, out, offset + done, length - done, tell=tell)
        if done == length:
            break
    return done


def move_all(
    source: int,
    out: int,
    size: int,
    *,
    sparse: bool,
    tell: Tell,
    hole: Take = lambda piece: None,
    by: Move = move,
    segments: Segments | None = None,
) -> int:
    """Move the file in steps; returns its bytes. Holes are skipped and passed to
    ``hole``. Raises OSError."""
    end = 0
    by = by if segments is None else _durably(by, segments)
    for offset, length in data_of(source, size) if sparse else [(0, size)]:
        hole((end, offset - end, True))
        end = offset
        while end < offset + length:
            most = STEP if segments is None else segments.size
            step = min(most, offset + length - end)
            moved = by(source, out, end, step, tell)
            end += moved
            if moved < step:
                return end
    if end < size:  # a needless ftruncate would wait for the disk
        hole((end, size - end, True))
        os.ftruncate(out, size)
    return size


def _durably(by: Move, segments: Segments) -> Move:
    """``by``, with each step as a durable segment."""

    def move_segment(
        source: int, out: int, offset: int, length: int, tell: Tell
    ) -> int:
        with segments.take(length):
            moved = by(source, out, offset, length, tell)
            os.fdatasync(out)
        return moved

    return move_segment


def _ways() -> Iterator[Way]:
    if hasattr(os, "copy_file_range"):  # of glibc 2.27
        yield _copy_file_range
    yield _sendfile
    yield _read_and_write


def _by(
    way: Way, source: int, out: int, offset: int, length: int, *, tell: Tell
) -> int:
    """The bytes that ``way`` moved until it was done, stopped, or was refused."""
    done = 0
    while done < length:
        try:
            step = way(source, out, offset + done, min(STEP, length - done))
        except OSError as error:
            if way is not _read_and_write and error.errno in _REFUSED:
                return done
            raise
        if step == 0:
            return done
        begin_writing(out, offset + done, step)
        tell(step)
        done += step
    return done


def _copy_file_range(source: int, out: int, offset: int, length: int) -> int:
    return os.copy_file_range(source, out, length, offset, offset)


def _sendfile(source: int, out: int, offset: int, length: int) -> int:
    os.lseek(out, offset, os.SEEK_SET)
    return os.sendfile(out, source, offset, length)


def _read_and_write(source: int, out: int, offset: int, length: int) -> int:
    data = os.pread(source, min(CHUNK, length), offset)
    write_all(out, memoryview(data), offset)
    return len(data)
