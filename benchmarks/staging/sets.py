"""The trees that are copied, the same bytes in every run, and the check of a copy."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SEED = 20_000
KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
_POOL = 16 * MIB  # random bytes, made once: files are slices of them
_SAMPLE = 50  # files of a copy that are compared, by parts of a MiB


class RunFailed(Exception):
    """A program did not do its work; the message has its output."""


@dataclass(frozen=True)
class FileSet:
    """A tree: every file's path below its root, and its size in bytes."""

    name: str
    files: tuple[tuple[str, int], ...]

    @property
    def size(self) -> int:
        return sum(size for _, size in self.files)


def small(scale: float) -> FileSet:
    """20,000 files of 4 KiB, a thousand in a folder."""
    return FileSet("small", _in_folders(math.ceil(20_000 * scale), 4 * KIB))


def large(scale: float) -> FileSet:
    """8 files of 512 MiB."""
    size = math.ceil(512 * MIB * scale)
    return FileSet("large", tuple((f"file-{n}", size) for n in range(8)))


def mixed(scale: float) -> FileSet:
    """2,000 files, sizes log-normal: half of them below 64 KiB, a few hundred MiB."""
    draw = random.Random(SEED)
    files = []
    for n in range(math.ceil(2_000 * scale)):
        folder = "/".join(f"{draw.choice('abcd')}{level}" for level in range(3))
        size = min(int(draw.lognormvariate(math.log(64 * KIB), 2.0)), 256 * MIB)
        files.append((f"{folder}/file-{n:04d}", size))
    return FileSet("mixed", tuple(files))


def many(scale: float) -> FileSet:
    """200,000 empty files: whether memory grows with their number."""
    return FileSet("many", _in_folders(math.ceil(200_000 * scale), 0))


SETS = {"large": large, "mixed": mixed, "small": small, "many": many}


def _in_folders(count: int, size: int) -> tuple[tuple[str, int], ...]:
    return tuple((f"{n // 1000:03d}/file-{n:06d}", size) for n in range(count))


def write_set(files: FileSet, root: Path) -> None:
    """Make the tree below ``root``, of bytes that no compression shrinks."""
    draw = random.Random(SEED)
    pool = memoryview(draw.randbytes(_POOL))
    for folder in sorted({str(Path(path).parent) for path, _ in files.files}):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for path, size in files.files:
        with (root / path).open("xb", buffering=0) as out:
            for at in range(0, size, MIB):
                length = min(size - at, MIB)
                start = draw.randrange(len(pool) - length + 1)
                out.write(pool[start : start + length])


def check_copy(files: FileSet, source: Path, dest: Path) -> None:
    """The same names and sizes, the same bytes in a sample. Raises RunFailed."""
    sizes = dict(_sizes(dest))
    wanted = dict(files.files)
    if sizes != wanted:
        missing = wanted.keys() - sizes.keys()
        other = sizes.keys() - wanted.keys()
        raise RunFailed(
            f"{dest}: {len(missing)} of {len(wanted)} files are missing, {len(other)} "
            f"are there that should not be, {sum(sizes.values())} of "
            f"{files.size} bytes"
        )
    draw = random.Random(len(sizes))
    for path in draw.sample(sorted(wanted), min(_SAMPLE, len(wanted))):
        size = wanted[path]
        for start in (0, size // 2, max(0, size - MIB)):
            if _part(source / path, start) != _part(dest / path, start):
                raise RunFailed(f"{dest / path}: not what {source / path} has")


def empty_files(dest: Path) -> None:
    """Give back the room, but not the names.

    For minutes after an inode was freed an ext4 without a journal looks at it again and
    again before it gives out another: the next program that creates files would pay.
    """
    for path, _ in list(_sizes(dest)):
        os.truncate(dest / path, 0)


def _sizes(root: Path) -> Iterator[tuple[str, int]]:
    for path in root.rglob("*"):
        if not path.is_dir():
            yield str(path.relative_to(root)), path.lstat().st_size


def _part(path: Path, start: int) -> bytes:
    with path.open("rb", buffering=0) as source:
        source.seek(start)
        return source.read(MIB)
