"""What is below a folder."""

from __future__ import annotations

import os
from pathlib import Path

from pegasus_bb.runtime.staging.items import Folder


def contents(folder: Path) -> dict[str, bytes]:
    """Of each file by its path; of none where there is no folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def make_deep(top: Path, levels: int) -> None:
    """``levels`` folders in each other, with a file in each."""
    top.mkdir()
    folder = Folder.open(str(top))
    for _ in range(levels):
        os.mkdir("inner", dir_fd=folder.fd)
        file = os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=folder.fd)
        os.write(file, b"deep")
        os.close(file)
        folder = folder.enter("inner")


def depth(top: Path) -> int:
    """How many such folders are in each other."""
    folder = Folder.open(str(top))
    found = 0
    while True:
        try:
            file = os.open("file", os.O_RDONLY, dir_fd=folder.fd)
        except FileNotFoundError:
            return found
        with os.fdopen(file, "rb") as text:
            assert text.read() == b"deep"
        folder = folder.enter("inner")
        found += 1
