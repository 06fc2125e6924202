"""Many small files into a folder that nobody else looks at yet."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterable
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


class Beside:
    """Does ``work`` in a second process while this one does something else.

    Where there is no second processor, or other threads that a fork would lose, or
    where that process fails for whatever reason, ``work`` is done here when the result
    is wanted, and its error is raised here. So ``work`` must bear being done again.
    """

    def __init__(self, work: Callable[[], None], worth: bool) -> None:
        self._work = work
        self._worth = worth  # a process of its own
        self._child = 0

    def __enter__(self) -> Beside:
        alone = threading.active_count() == 1
        if self._worth and alone and (os.cpu_count() or 1) > 1:
            gc.freeze()  # or the collector would touch, and so copy, every page
            self._child = os.fork()
            if self._child == 0:
                os._exit(_status(self._work))
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing of the second process outlives this one's interest in it."""
        if self._child:
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
            self._child = 0
            gc.unfreeze()

    def finish(self) -> None:
        """Wait until ``work`` is done. Raises what it raises."""
        if self._child:
            _, status = os.waitpid(self._child, 0)
            self._child = 0
            gc.unfreeze()
            if status == 0:
                return
        self._work()


def _status(work: Callable[[], None]) -> int:
    gc.disable()
    try:
        work()
    except BaseException:
        return 1
    return 0


def _write(name: str, content: bytes, folder: int) -> None:
    file = os.open(name, _NEW, 0o644, dir_fd=folder)
    try:
        written = os.write(file, content)
        while written < len(content):  # a full disk writes less before it says so
            written += os.write(file, content[written:])
    finally:
        os.close(file)
