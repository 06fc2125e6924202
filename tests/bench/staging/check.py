"""Whether a copy is one: as many files and bytes, and the same bytes in a sample."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

from tests.bench.staging.measure import RunFailed
from tests.bench.staging.sets import MIB, FileSet

_SAMPLE = 50  # files
_PART = MIB  # of each, at its beginning, its end and one place between


def check_copy(files: FileSet, source: Path, dest: Path) -> None:
    """Raises RunFailed, saying what is missing or wrong."""
    sizes = dict(_sizes(dest))
    wanted = dict(files.files)
    if sizes != wanted:
        missing, other = wanted.keys() - sizes.keys(), sizes.keys() - wanted.keys()
        raise RunFailed(
            f"{dest}: {len(missing)} of {len(wanted)} files are missing, {len(other)} "
            f"are there that should not be, {sum(sizes.values())} of "
            f"{files.size} bytes"
        )
    draw = random.Random(len(sizes))
    for path in draw.sample(sorted(wanted), min(_SAMPLE, len(wanted))):
        size = wanted[path]
        for start in (0, size // 2, max(0, size - _PART)):
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
    for folder, _, names in os.walk(root):
        below = os.path.relpath(folder, root)
        for name in names:
            size = os.lstat(f"{folder}/{name}").st_size
            yield os.path.normpath(f"{below}/{name}"), size


def _part(path: Path, start: int) -> bytes:
    with path.open("rb", buffering=0) as source:
        source.seek(start)
        return source.read(_PART)
