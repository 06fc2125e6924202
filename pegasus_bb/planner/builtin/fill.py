"""Many small files into a folder that nobody else looks at yet."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

File = tuple[str, bytes]  # path below the folder, content
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def fill(root: Path, files: Iterable[File]) -> None:
    """Write ``files``; one open folder serves all that follow each other in it."""
    folder, handle = None, -1
    try:
        for path, content in files:
            above, _, name = path.rpartition("/")
            if above != folder:
                if handle >= 0:
                    os.close(handle)
                (root / above).mkdir(parents=True, exist_ok=True)
                folder = above
                handle = os.open(root / above, os.O_RDONLY | os.O_DIRECTORY)
            _write(name, content, handle)
    finally:
        if handle >= 0:
            os.close(handle)


def _write(name: str, content: bytes, folder: int) -> None:
    file = os.open(name, _NEW, 0o644, dir_fd=folder)
    try:
        written = os.write(file, content)
        while written < len(content):  # a full disk writes less before it says so
            written += os.write(file, content[written:])
    finally:
        os.close(file)
