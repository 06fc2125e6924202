"""Batches of small files by the compiled helper; without it plain.py copies them.

The helper (_small.c) is a shared library without any Python in it. It is not there
where no compiler was, and does not load on a node of another kind: then `load` says
None, and nothing is lost but time. PEGASUS_BB_HELPER=none does without.
"""

from __future__ import annotations

import ctypes
import enum
import errno
import os
import struct
from glob import escape, glob
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from pegasus_bb.staging.failures import (
    CopyFailed,
    explained,
    not_a_file,
    of_another_size,
)
from pegasus_bb.staging.items import Answer, Batch, Copier, Elsewhere, Item, Landed
from pegasus_bb.staging.moves import Tell

VERSION = 6
_ROOM = 1 << 20  # bytes of a thread's buffer
_TASK = struct.Struct("=iiIIQ")
_RESULT = struct.Struct("=iiqQQqqQQqq32s")
_ELF = struct.Struct("=40xQ10xHH2x")  # where section headers begin, their size, number
_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


class Step(enum.IntEnum):
    """How far a file came, as _small.c counts."""

    DONE = 0
    SOURCE = 1  # it cannot be opened or read
    NOT_A_FILE = 2
    CHANGED = 3
    PART = 4  # the temporary file cannot be written
    RENAME = 5
    SHORT = 6  # the copy has another size than what was written


class _Packed(NamedTuple):
    """What both calls get; the answers are written into ``results``."""

    names: bytes
    tasks: bytes
    results: Any


def load(digest: bool) -> Optional[Helper]:
    """The helper, where it can do this; None where Python has to."""
    if os.environ.get("PEGASUS_BB_HELPER") == "none":
        return None
    for path in glob(os.path.join(escape(os.path.dirname(__file__)), "_small*.so")):
        try:
            _check_whole(path)
            return Helper(path, digest)
        except (OSError, AttributeError, ValueError):
            continue  # built for another system, or for another version of us
    return None


def _check_whole(path: str) -> None:
    """Raises ValueError where the end of it is missing: to load what a full disk has
    cut off would kill this process (SIGBUS)."""
    with open(path, "rb") as file:
        head = file.read(_ELF.size).ljust(_ELF.size, b"\0")
        begin, each, count = _ELF.unpack(head)  # the last thing that a linker writes
        if os.fstat(file.fileno()).st_size < begin + each * count or not count:
            raise ValueError(f"{path}: not whole")


class Helper(Copier):
    limit = _ROOM - 1

    def __init__(self, path: str, digest: bool) -> None:
        """Raises OSError, AttributeError, ValueError where it does not fit."""
        self._library = ctypes.CDLL(path)
        if self._library.pbb_version() != VERSION:
            raise ValueError(f"{path}: another version")
        self._hash = _sha256() if digest else None

    def copy(self, batch: Batch, tag: str, follow: bool, tell: Tell) -> None:
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
            ctypes.create_string_buffer(_ROOM),
            ctypes.c_size_t(_ROOM),
        )
        batch.results = _Packed(names, tasks, results)
        tell(sum(item.size for item in batch.items))

    def changed(self, batch: Batch) -> List[Item]:
        rows = _RESULT.iter_unpack(batch.results.results)
        pairs = zip(batch.items, rows)
        return [item for item, row in pairs if row[0] == Step.CHANGED]

    def rename(self, batch: Batch, tag: str) -> List[Answer]:
        names, tasks, results = batch.results
        count = ctypes.c_size_t(len(batch.items))
        self._library.pbb_rename(names, tag.encode(), tasks, results, count)
        rows = _RESULT.iter_unpack(results)
        return [self._answer(item, row) for item, row in zip(batch.items, rows)]

    def _answer(self, item: Item, row: Tuple[Any, ...]) -> Answer:
        step, error, size = row[:3]
        if step == Step.DONE:
            words = f"sha256:{row[-1].hex()}" if self._hash else ""
            return Landed(size, words, list(row[7:11]), list(row[3:7]))
        if step == Step.CHANGED:
            return Elsewhere()
        return _failure(item, Step(step), error)


def _failure(item: Item, step: Step, code: int) -> CopyFailed:
    if step is Step.NOT_A_FILE:
        return not_a_file(item.source_path)
    if step is Step.SHORT:
        return of_another_size(item.dest_path)
    error = OSError(code, os.strerror(code))
    if step is Step.SOURCE and code == errno.ELOOP:
        error.strerror = "it has become a link meanwhile"
    return explained(error, item.source_path, item.dest_path)


def _pack(items: Sequence[Item]) -> Tuple[bytes, bytes]:
    """The names, each ended by a NUL, and the tasks, which say where names begin."""
    names: List[bytes] = []
    rows: List[bytes] = []
    end = 0
    for item in items:
        name = os.fsencode(item.name)
        begin = to = end
        end += len(name) + 1
        names.append(name)
        if item.as_name != item.name:
            other = os.fsencode(item.as_name)
            to, end = end, end + len(other) + 1
            names.append(other)
        rows.append(_TASK.pack(item.source.fd, item.dest.fd, begin, to, item.hint))
    return b"\0".join(names), b"".join(rows)


def _sha256() -> Any:
    """The SHA-256 of the OpenSSL that this Python hashes with. Raises OSError."""
    for name in (*_loaded(), "libcrypto.so.3", "libcrypto.so.1.1"):
        try:
            found = ctypes.CDLL(name).SHA256
        except (OSError, AttributeError):
            continue
        digest = ctypes.create_string_buffer(32)
        found(b"abc", ctypes.c_size_t(3), digest)
        if digest.raw.hex() == _ABC:
            return ctypes.cast(found, ctypes.c_void_p)
    raise OSError("no OpenSSL with SHA-256")


def _loaded() -> List[str]:
    """The paths of the OpenSSL that is in this process already."""
    import hashlib  # it brings OpenSSL in, unless Python was built without

    hashlib.sha256()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        fields = [line.split(None, 5) for line in maps if "libcrypto" in line]
    return sorted({line[5].strip() for line in fields if len(line) == 6})
