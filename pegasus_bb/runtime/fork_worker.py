"""Workers: processes that launch forks to do something beside its task, or after it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from pegasus_bb.runtime.proc import FORWARDED, parent_death_signal

_OF_THE_JOB = (*FORWARDED, signal.SIGXCPU)


def fork_worker(work: Callable[[], None]) -> int:
    """Start a process that does ``work``; its number. Signals of the job do not reach
    it: launch ends it, and it dies with launch. Raises OSError."""
    parent = os.getpid()
    die_with_parent = parent_death_signal()  # loaded before the fork
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        for number in _OF_THE_JOB:
            signal.signal(number, signal.SIG_IGN)
        if die_with_parent is not None:
            die_with_parent(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() == parent:
            work()
            status = 0
    except BaseException:
        import traceback  # few need it

        traceback.print_exc()
    finally:
        os._exit(status)


def kill(pid: int) -> None:
    """End such a process, whatever it does."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
