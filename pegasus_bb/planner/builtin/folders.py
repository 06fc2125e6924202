"""Folders full of small files, written by two processes that share them as they can."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import TypeAlias

from pegasus_bb.beside import Beside

File = tuple[str, bytes]  # path below the folder, content
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
# path below the root -> its files, by their paths below the root; asked for once or
# twice, by either process
Folders: TypeAlias = Mapping[str, Callable[[], Iterable[File]]]


def fill_folders(
    root: Path, folders: Folders, worth: bool, meanwhile: Callable[[], None]
) -> None:
    """Write all of ``folders``; ``meanwhile`` is what one process does first.

    Where that is not ``worth`` a second process, this one does all. Raises what writing
    raises; files may be there then.
    """
    for folder in folders:
        (root / folder).parent.mkdir(parents=True, exist_ok=True)
    backwards = dict(reversed(list(folders.items())))
    with Beside(lambda: _fill_free(root, folders), worth) as other:
        meanwhile()
        here = _fill_free(root, backwards)
        _fill_again(root, folders, {*here, *other.finish()})


def _fill_free(root: Path, folders: Folders) -> list[str]:
    """Fill those that are not begun: the process that makes a folder fills it."""
    filled = []
    for folder, files in folders.items():
        try:
            (root / folder).mkdir()
        except FileExistsError:
            continue
        fill(root, files())
        filled.append(folder)
    return filled


def _fill_again(root: Path, folders: Folders, filled: Set[str]) -> None:
    """What a second process had begun when it came to grief."""
    for folder in folders.keys() - filled:
        shutil.rmtree(root / folder)
        fill(root, folders[folder]())


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
