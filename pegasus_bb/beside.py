"""Work that a second process does while this one goes on."""

from __future__ import annotations

import gc
import marshal
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_PR_SET_PDEATHSIG = 1


class Beside(Generic[T]):
    """Does ``work`` in a second process while this one does something else.

    What it gives back is plain data: dict, list, str, numbers, bytes, None. Where there
    is no second processor, or other threads that a fork would lose, or where that
    process fails for whatever reason, ``work`` is done here when the result is wanted,
    and its error is raised here. So ``work`` must bear being done again.
    """

    def __init__(self, work: Callable[[], T], worth: bool = True) -> None:
        self._work = work
        self._worth = worth  # a process of its own
        self._child = 0
        self._result = -1  # where the child's answer comes from

    def __enter__(self) -> Beside[T]:
        if self._worth and (os.cpu_count() or 1) > 1 and _alone():
            gc.freeze()  # or the collector would touch, and so copy, every page
            self._result, answer = os.pipe()
            parent = os.getpid()
            self._child = os.fork()
            if self._child == 0:
                os.close(self._result)
                _end_with(parent)
                os._exit(_answer(self._work, answer))
            os.close(answer)
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing of the second process outlives this one's interest in it."""
        if self._child:
            os.kill(self._child, signal.SIGKILL)
            self._end()

    def finish(self) -> T:
        """Wait until ``work`` is done. Raises what it raises."""
        if self._child:
            with open(self._result, "rb", closefd=False) as source:
                answer = source.read()
            if self._end() == 0:
                result: T = marshal.loads(answer)  # noqa: S302 - our own process's
                return result
        return self._work()

    def _end(self) -> int:
        _, status = os.waitpid(self._child, 0)
        os.close(self._result)
        self._child = 0
        gc.unfreeze()
        return status


def _alone() -> bool:
    """Whether this process has one thread. A fork takes no other along, but every lock
    that one holds; Python knows its own threads only, not those of C libraries."""
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return threading.active_count() == 1


def _end_with(parent: int) -> None:
    """Where ``parent`` is killed the kernel kills this process too (Linux's prctl)."""
    import ctypes  # few plannings are long enough for a second process

    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        pass  # then it ends with its work, which nobody reads
    if os.getppid() != parent:
        os._exit(1)


def _answer(work: Callable[[], Any], answer: int) -> int:
    gc.disable()
    try:
        with open(answer, "wb") as out:
            out.write(marshal.dumps(work()))
    except BaseException:
        return 1
    return 0
