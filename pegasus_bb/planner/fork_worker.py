"""A forked worker does a part of a large planning, in parallel with this process."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

Result = TypeVar("Result")

JOBS_FOR_A_WORKER = 5000  # of a workflow: with fewer a fork costs more than it saves
_PR_SET_PDEATHSIG = 1


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
