"""A forked worker does a part of a large planning, such as half of its small files."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias, TypeVar

Result = TypeVar("Result")

JOBS_FOR_A_WORKER = 5000  # of a workflow: with fewer a fork costs more than it saves
_PR_SET_PDEATHSIG = 1
File = tuple[str, bytes]  # path below the root, content
# path below the root -> its files; both processes may call this, more than once
Folders: TypeAlias = Mapping[str, Callable[[], Iterable[File]]]
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@contextmanager
def in_worker(
    work: Callable[[], Result], *, with_worker: bool
) -> Iterator[Callable[[], Result]]:
    """Run ``work`` in a worker while the body runs; yield a function that waits for its
    result.

    Without a worker, or if the worker fails, that function runs ``work`` here and
    raises what it raises. The result has to be small: it is pickled.
    """
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as answer:
        with os.fdopen(writing, "wb") as out:
            worker = fork_worker(lambda: _send(work(), out)) if with_worker else 0
        try:
            yield lambda: _receive(worker, answer, work)
        finally:
            if worker:
                end_worker(worker)


def _send(result: object, out: BinaryIO) -> None:
    pickle.dump(result, out)
    out.flush()


def _receive(worker: int, answer: BinaryIO, work: Callable[[], Result]) -> Result:
    data = answer.read() if worker else b""
    if data:
        with suppress(EOFError, pickle.UnpicklingError):  # the worker was killed
            result: Result = pickle.loads(data)  # noqa: S301 - of our own fork
            return result
    return work()


def fork_worker(work: Callable[[], object]) -> int:
    """Fork a process that does ``work``, and return its id; it exits with 0 on success.

    Returns 0 on one processor, or if this process has threads: a fork copies locks.
    """
    if len(os.sched_getaffinity(0)) < 2 or not _has_one_thread():
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


def end_worker(worker: int) -> None:
    """Kill and reap the worker; it may have ended already."""
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)


def _has_one_thread() -> bool:
    """Also counts threads of C libraries, which Python does not know."""
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
