"""The trees that are copied: the same bytes on every machine and in every run."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SEED = 20_000
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_POOL = 16 * MIB  # random bytes, made once: files are slices of them
_CHUNK = MIB


@dataclass(frozen=True)
class FileSet:
    """A tree: every file's path below its root, and its size in bytes."""

    name: str
    files: tuple[tuple[str, int], ...]

    @property
    def size(self) -> int:
        return sum(size for _, size in self.files)

    @property
    def folders(self) -> list[str]:
        """Every folder that holds files."""
        return sorted({str(Path(path).parent) for path, _ in self.files})


def small(scale: float) -> FileSet:
    """20,000 files of 4 KiB, a thousand in a folder."""
    paths = (f"{n // 1000:03d}/file-{n:06d}" for n in range(math.ceil(20_000 * scale)))
    return FileSet("small", tuple((path, 4 * KIB) for path in paths))


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
    count = math.ceil(200_000 * scale)
    paths = (f"{n // 1000:03d}/file-{n:06d}" for n in range(count))
    return FileSet("many", tuple((path, 0) for path in paths))


SETS = {"large": large, "mixed": mixed, "small": small, "many": many}


def write_set(files: FileSet, root: Path) -> None:
    """Make the tree below ``root``, which must not be there yet."""
    draw = random.Random(SEED)
    pool = draw.randbytes(_POOL)
    for folder in files.folders:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for path, size in files.files:
        with (root / path).open("xb", buffering=0) as out:
            for part in _slices(pool, size, draw):
                out.write(part)


def _slices(pool: bytes, size: int, draw: random.Random) -> Iterator[memoryview]:
    """``size`` bytes that no compression shrinks: pieces of ``pool``."""
    view = memoryview(pool)
    while size > 0:
        length = min(size, _CHUNK)
        start = draw.randrange(len(pool) - length + 1)
        yield view[start : start + length]
        size -= length
