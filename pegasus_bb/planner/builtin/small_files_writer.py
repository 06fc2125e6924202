"""Writes folders of small files; in a large planning a forked worker writes half."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from pegasus_bb.planner.fork_worker import end_worker, fork_worker

File = tuple[str, bytes]  # path below the root, content
# path below the root -> its files; both processes may call this, more than once
Folders: TypeAlias = Mapping[str, Callable[[], Iterable[File]]]
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def fill_folders(
    root: Path, folders: Folders, *, with_worker: bool, meanwhile: Callable[[], None]
) -> None:
    """Write all of ``folders``, and call ``meanwhile`` in this process.

    A worker starts with the first folder; this process calls ``meanwhile`` and starts
    with the last. Folders of a failed worker are written again. Raises what writing
    raises, and may leave files behind then.
    """
    for folder in folders:
        (root / folder).parent.mkdir(parents=True, exist_ok=True)
    backwards = dict(reversed(list(folders.items())))
    worker = fork_worker(lambda: _fill_free(root, folders)) if with_worker else 0
    status = 0
    try:
        meanwhile()
        here = _fill_free(root, backwards)
        if worker:
            _, status = os.waitpid(worker, 0)
    except BaseException:
        if worker:
            end_worker(worker)
        raise
    for folder in folders.keys() - here if status else ():
        shutil.rmtree(root / folder, ignore_errors=True)
        fill(root, folders[folder]())


def _fill_free(root: Path, folders: Folders) -> set[str]:
    """Fill the folders that this process can make: the other has made those that
    exist."""
    filled = set()
    for folder, files in folders.items():
        try:
            (root / folder).mkdir()
        except FileExistsError:
            continue
        fill(root, files())
        filled.add(folder)
    return filled


def fill(root: Path, files: Iterable[File]) -> None:
    """Write ``files``; consecutive files of a folder share its descriptor."""
    folder = None
    handle = -1
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
        while written < len(content):  # a full disk writes less, and then fails
            written += os.write(file, content[written:])
    finally:
        os.close(file)
