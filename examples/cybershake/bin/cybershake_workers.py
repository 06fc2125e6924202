"""Worker processes that live and die with their job.

A job that is killed must not leave a worker behind that still writes while the job's
next attempt is running; and a worker that is killed must fail the job, not hang it.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def run_workers(count: int, task: Callable[[int], None]) -> None:
    """Run task(0) ... task(count - 1), each in a process; exit 1 when one fails."""
    fork = multiprocessing.get_context("fork")
    parent = os.getpid()
    workers = [fork.Process(target=_run, args=(task, n, parent)) for n in range(count)]
    for worker in workers:
        worker.start()
    running: dict[Any, Any] = {worker.sentinel: worker for worker in workers}
    failed = None
    while running:
        for sentinel in wait(list(running)):
            worker = running.pop(sentinel)
            worker.join()
            if worker.exitcode and failed is None:
                failed = worker.exitcode
                for other in running.values():
                    other.kill()
    if failed is not None:
        sys.exit(f"{program()}: a worker process failed ({_describe(failed)})")


def program() -> str:
    return os.path.basename(sys.argv[0])


def _run(task: Callable[[int], None], number: int, parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)
    try:
        task(number)
    except OSError as error:  # no space, quota: the system's own words are enough
        sys.exit(f"{program()}: {error}")


def _describe(exitcode: int) -> str:
    if exitcode < 0:
        return f"signal {signal.Signals(-exitcode).name}"
    return f"exit code {exitcode}"
