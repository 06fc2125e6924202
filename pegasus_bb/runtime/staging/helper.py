"""Copies batches of small files with the compiled helper; else plain.py copies them.

The helper (_small.c) is a shared library without Python. Without a compiler at
installation, or on a node of another architecture, `load` returns None, and copies are
slower. PEGASUS_BB_HELPER=none turns the helper off.
"""

from __future__ import annotations

import ctypes
import enum
import errno
import os
import struct
from collections.abc import Sequence
from glob import escape, glob

from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.core.refusals import MODE, warn_refused
from pegasus_bb.runtime.staging.failures import (
    CopyFailed,
    explained,
    not_a_file,
    of_another_size,
)
from pegasus_bb.runtime.staging.items import (
    Answer,
    Batch,
    Copier,
    Item,
    Landed,
    Rescheduled,
)
from pegasus_bb.runtime.staging.moves import Tell

if TYPE_CHECKING:
    from typing import Any

VERSION = 8
_BUFFER = 1 << 20  # bytes per thread
_SECOND = 1_000_000_000  # ns
_TASK = struct.Struct("=iiQ")
_RESULT = struct.Struct("=iiqQQqqqqQQqqqq32s")
_ELF = struct.Struct("=40xQ10xHH2x")  # where section headers begin, their size, number
_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


class Step(enum.IntEnum):
    """The last step of a file, as in _small.c."""

    DONE = 0
    SOURCE = 1  # it cannot be opened or read
    NOT_A_FILE = 2
    CHANGED = 3
    PART = 4  # the temporary file cannot be written
    RENAME = 5
    SHORT = 6  # the size of the copy differs from the bytes written


class _Packed(NamedTuple):
    """The arguments of both calls, which write their answers into ``results``."""

    names: bytes
    tasks: bytes
    results: Any


def load(*, digest: bool) -> Helper | None:
    """The helper, or None if it cannot be used here."""
    if os.environ.get("PEGASUS_BB_HELPER") == "none":
        return None
    kept = glob(os.path.join(escape(os.path.dirname(__file__)), "_small*.so"))
    unpacked = [] if kept else _unpacked()
    try:
        for path in kept or unpacked:
            try:
                _check_whole(path)
                return Helper(path, digest=digest)
            except (OSError, AttributeError, ValueError):
                continue  # built for another system, or for another version of us
        return None
    finally:
        for path in unpacked:
            os.unlink(path)


def _unpacked() -> list[str]:
    """The helper in a temporary file, where our code runs from an archive."""
    archive: Any = globals().get("__loader__")
    if not hasattr(archive, "archive"):  # a zipimporter has it
        return []
    try:
        data = archive.get_data("pegasus_bb/runtime/staging/_small.so")
    except OSError:  # built without
        return []
    from tempfile import mkstemp

    try:
        handle, path = mkstemp(suffix=".so")
        with open(handle, "wb") as file:
            file.write(data)
    except OSError:  # no room: Python copies
        return []
    return [path]


def _check_whole(path: str) -> None:
    """Raises ValueError if the library is truncated, as by a full disk: to load it
    would kill this process (SIGBUS)."""
    with open(path, "rb") as file:
        head = file.read(_ELF.size).ljust(_ELF.size, b"\0")
        begin, each, count = _ELF.unpack(head)  # the section headers come last
        if os.fstat(file.fileno()).st_size < begin + each * count or not count:
            raise ValueError(f"{path}: not whole")


class Helper(Copier):
    limit = _BUFFER - 1

    def __init__(self, path: str, *, digest: bool) -> None:
        """Raises OSError, AttributeError, ValueError if the library is unusable."""
        self._library = ctypes.CDLL(path)
        if self._library.pbb_version() != VERSION:
            raise ValueError(f"{path}: another version")
        self._hash = _sha256() if digest else None

    def copy(self, batch: Batch, tag: str, *, follow: bool, tell: Tell) -> None:
        count = len(batch.items)
        names, tasks = _pack(batch.items)
        results = ctypes.create_string_buffer(_RESULT.size * count)
        self._library.pbb_copy(
            names,
            tag.encode(),
            tasks,
            results,
            ctypes.c_size_t(count),
            int(follow),
            self._hash,
            ctypes.c_size_t(_BUFFER),
        )
        batch.results = _Packed(names, tasks, results)
        tell(sum(item.size for item in batch.items))

    def changed(self, batch: Batch) -> list[Item]:
        rows = _RESULT.iter_unpack(batch.results.results)
        pairs = zip(batch.items, rows)
        return [item for item, row in pairs if row[0] == Step.CHANGED]

    def rename(self, batch: Batch, tag: str) -> list[Answer]:
        names, tasks, results = batch.results
        count = ctypes.c_size_t(len(batch.items))
        self._library.pbb_rename(names, tag.encode(), tasks, results, count)
        rows = _RESULT.iter_unpack(results)
        return [self._answer(item, row) for item, row in zip(batch.items, rows)]

    def _answer(self, item: Item, row: tuple[Any, ...]) -> Answer:
        step, error, size = row[:3]
        if step == Step.DONE:
            if error:
                refused = OSError(error, os.strerror(error))
                warn_refused(MODE, item.dest_path, refused)
            digest = f"sha256:{row[-1].hex()}" if self._hash else ""
            return Landed(size, digest, _stamp(row[9:15]), _stamp(row[3:9]))
        if step == Step.CHANGED:
            return Rescheduled()
        return _failure(item, Step(step), error)


def _stamp(row: tuple[int, ...]) -> list[int]:
    """As items.stamp; a time is there in seconds and nanoseconds."""
    device, inode, mtime, mtime_ns, ctime, ctime_ns = row
    return [device, inode, mtime * _SECOND + mtime_ns, ctime * _SECOND + ctime_ns]


def _failure(item: Item, step: Step, code: int) -> CopyFailed:
    if step is Step.NOT_A_FILE:
        return not_a_file(item.source_path)
    if step is Step.SHORT:
        return of_another_size(item.dest_path)
    error = OSError(code, os.strerror(code))
    if step is Step.SOURCE and code == errno.ELOOP:
        error.strerror = "it has become a link meanwhile"
    return explained(error, item.source_path, item.dest_path)


def _pack(items: Sequence[Item]) -> tuple[bytes, bytes]:
    """Both names of each, with a NUL between them, and the tasks."""
    names = [name for item in items for name in (item.name, item.as_name)]
    rows = [_TASK.pack(item.source.fd, item.dest.fd, item.hint) for item in items]
    return os.fsencode("\0".join(names)), b"".join(rows)


def _sha256() -> Any:
    """The SHA-256 function of this Python's OpenSSL. Raises OSError."""
    for name in (*_loaded(), "libcrypto.so.3", "libcrypto.so.1.1"):
        try:
            function = ctypes.CDLL(name).SHA256
        except (OSError, AttributeError):
            continue
        digest = ctypes.create_string_buffer(32)
        function(b"abc", ctypes.c_size_t(3), digest)
        if digest.raw.hex() == _ABC:
            return ctypes.cast(function, ctypes.c_void_p)
    raise OSError("no OpenSSL with SHA-256")


def _loaded() -> list[str]:
    """The paths of the OpenSSL that this process has loaded."""
    import hashlib  # loads OpenSSL, unless Python was built without it

    hashlib.sha256()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        fields = [line.split(None, 5) for line in maps if "libcrypto" in line]
    return sorted({line[5].strip() for line in fields if len(line) == 6})
