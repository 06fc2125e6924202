"""Processes of a run: each in a session of its own, waited for in one place."""

from __future__ import annotations

import os
import selectors
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any

from pegasus_bb.core import process
from pegasus_bb.run.engine.forked_jobs import ForkedJobs
from pegasus_bb.run.engine.processes import Processes, kill_marked

# Seconds between two polls where the kernel has no pidfd to wait for.
_POLL = 0.02
_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True, eq=False)
class Child:
    """A running process; ``owner`` and ``kind`` are for the caller."""

    owner: Any
    kind: str  # job | pre | post
    mark: str  # in its environment: lets a later engine find it
    output: IO[bytes] | None = None  # of a script
    running: Any = None  # subprocess.Popen, Forked
    handle: int = -1  # pidfd, -1 where there is none
    is_polled: bool = False  # the kernel has no pidfd


class Children:
    """Starts processes and tells when one of them, a timer or a signal is due."""

    def __init__(self, processes: Processes, programs: Path) -> None:
        """``programs``: the folder of those that may be forked."""
        self._processes = processes
        self._selector = selectors.DefaultSelector()
        self._forked = ForkedJobs(programs, processes, self.watch)
        self._alive: dict[int, Child] = {}
        self._without_pidfd = 0  # children without a pidfd

    def __len__(self) -> int:
        return len(self._alive)

    def __iter__(self) -> Iterator[Child]:
        return iter(list(self._alive.values()))

    def watch(self, handle: int) -> None:
        """Let ``wait`` return when ``handle`` can be read (a signal's pipe)."""
        self._selector.register(handle, selectors.EVENT_READ)

    def is_planned(self, program: str) -> bool:
        """Whether ``program`` is the run's own, as it was planned."""
        return self._forked.is_planned(program)

    def start(
        self,
        child: Child,
        argv: list[str],
        cwd: str,
        env: dict[str, str],
        files: tuple[int, int, int],
    ) -> None:
        """Start ``argv`` as ``child``. Raises OSError where it cannot be started."""
        mark = child.mark
        self._processes.starting(mark)
        env = {**env, self._processes.VARIABLE: mark}
        forked = self._forked.start(argv, cwd, env, files)
        child.running = forked or process.start(
            argv,
            cwd=cwd,
            env=env,
            stdin=files[0],
            stdout=files[1],
            stderr=files[2],
            new_session=True,
        )
        pid = child.running.pid
        self._processes.started(mark, pid)
        self._alive[pid] = child
        if forked is None:
            self._wait_for(child)

    def _wait_for(self, child: Child) -> None:
        try:
            child.handle = os.pidfd_open(child.running.pid)
            self._selector.register(child.handle, selectors.EVENT_READ, child)
        except (AttributeError, OSError):
            self._without_pidfd += 1
            child.is_polled = True

    def wait(self, timeout: float | None) -> list[tuple[Child, int]]:
        """Children that have ended, with exit status or minus the signal.

        Returns early where a watched handle can be read; that is not reported.
        """
        if self._without_pidfd:
            timeout = _POLL if timeout is None else min(timeout, _POLL)
        if self._forked.has_ended:
            timeout = 0
        ready = self._selector.select(timeout)
        if self._without_pidfd:
            self._forked.ended()
            candidates = list(self._alive.values())
        else:
            candidates = [key.data for key, _ in ready if key.data is not None]
            candidates += [self._alive[pid] for pid in self._forked.ended()]
        ended = []
        for child in candidates:
            status = child.running.poll()
            if status is not None:
                self._forget(child)
                ended.append((child, status))
        return ended

    def signal(self, number: int) -> None:
        for pid in self._alive:
            _signal_group(pid, number)

    def stop(self, grace: float, hurry: Callable[[], bool]) -> list[tuple[Child, int]]:
        """Send all of them SIGTERM, and SIGKILL to those still running after ``grace``
        seconds, or as soon as ``hurry`` returns True."""
        ended: list[tuple[Child, int]] = []
        marks = {child.mark for child in self}
        self.signal(signal.SIGTERM)
        deadline = time.monotonic() + grace
        while self._alive and time.monotonic() < deadline and not hurry():
            ended += self.wait(min(0.1, max(0.0, deadline - time.monotonic())))
        self.signal(signal.SIGKILL)
        while self._alive:
            ended += self.wait(0.1)
        kill_marked(marks)
        return ended

    def _forget(self, child: Child) -> None:
        del self._alive[child.running.pid]
        self._processes.ended(child.running.pid)
        self._without_pidfd -= child.is_polled
        if child.handle >= 0:
            self._selector.unregister(child.handle)
            os.close(child.handle)

    def close(self) -> None:
        self._forked.close()
        self._selector.close()


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


class Signals:
    """Within its ``with`` block these signals are recorded and wake up the reader of
    ``handle``; the former handlers are restored afterwards."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self.handle = -1
        self._write = -1
        self._before: dict[int, Any] = {}
        self._wakeup = -1

    def __enter__(self) -> Signals:
        self.handle, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        if threading.current_thread() is threading.main_thread():
            self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
            for number in _STOP:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._before:
            signal.set_wakeup_fd(self._wakeup)
        os.close(self.handle)
        os.close(self._write)

    def drain(self) -> None:
        try:
            while os.read(self.handle, 512):
                pass
        except BlockingIOError:
            pass

    def _note(self, number: int, _: FrameType | None) -> None:
        self.received.append(number)
