"""Folders full of small files; in a large planning a forked worker fills half."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

File = tuple[str, bytes]  # path below the root, content
# path below the root -> its files; either process may ask, and ask again
Folders: TypeAlias = Mapping[str, Callable[[], Iterable[File]]]
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_PR_SET_PDEATHSIG = 1


def fill_folders(
    root: Path, folders: Folders, with_worker: bool, meanwhile: Callable[[], None]
) -> None:
    """Do ``meanwhile`` and write all of ``folders``.

    A worker begins with the first folder, this process with ``meanwhile`` and the last.
    What a failed worker leaves is written again. Raises what writing raises; files may
    be there then.
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
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(worker, signal.SIGKILL)
                os.waitpid(worker, 0)
        raise
    for folder in folders.keys() - here if status else ():
        shutil.rmtree(root / folder, ignore_errors=True)
        fill(root, folders[folder]())


def fork_worker(work: Callable[[], object]) -> int:
    """The process that does ``work``, with exit status 0 if all of it is done.

    0 on one processor, or if this process has threads, whose locks a fork would keep.
    """
    if (os.cpu_count() or 1) < 2 or not _has_one_thread():
        return 0
    parent = os.getpid()
    worker = os.fork()
    if worker == 0:
        try:
            _end_with(parent)
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return worker


def _has_one_thread() -> bool:
    """Counts threads of C libraries too, which Python does not know."""
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False


def _end_with(parent: int) -> None:
    """The kernel kills this process if ``parent`` is killed (Linux's prctl)."""
    import ctypes  # only a large planning needs it

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _fill_free(root: Path, folders: Folders) -> set[str]:
    """Fill the folders that this process makes: one that is there is the other's."""
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
