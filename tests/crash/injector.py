"""kill -9 just before the n-th system call that changes what is in a folder.

Deterministic: no clock and no sleep, the same n is the same call. In any language: the
kernel says what the program does. A crash just after a call is the one before the next.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from . import ptrace
from .syscalls import Call, decode, numbered

_PATIENCE = 60.0  # seconds


class Traced(NamedTuple):
    """What a program did before it ended or was killed."""

    calls: list[Call]  # that count; the one that it was struck at among them
    struck_at: Call | None
    status: int  # exit status, or minus the signal
    said: str  # its stdout and stderr


def run_traced(
    argv: Sequence[str],
    below: Path,
    *,
    strike_at: int = 0,
    spares: bool = False,
    queries: Collection[str] = (),
    error: int = 0,
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
) -> Traced:
    """Run ``argv`` and strike at its ``strike_at``-th call that counts; 0: never.

    A call counts where it changes something in folder ``below``, or starts another
    program. To strike is to kill, before the call, the program and all that it started;
    ``spares``: other programs that it started come to their own end, as those on a
    scheduler's machine would, and to start one of ``queries`` changes nothing. With
    ``error`` nothing is killed: the kernel does not do that call, and answers with this
    errno.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(stdin)
        given.seek(0)
        streams = (given.fileno(), said.fileno(), said.fileno())
        tracer = _Tracer(os.path.realpath(below), strike_at, spares, queries, error)
        tracer.trace(argv, environ or {}, str(below), streams)
        said.seek(0)
        words = said.read().decode(errors="replace")
    return Traced(tracer.calls, tracer.struck_at, tracer.status, words)


def skip_where_nothing_can_be_traced(error: ptrace.NotPermitted) -> None:
    """By name; where nothing may be skipped it fails."""
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"ptrace: {error}")


class _Tracer:
    """Follows one program and all that it starts, in a thread of its own."""

    def __init__(
        self,
        below: str,
        strike_at: int,
        spares: bool,
        queries: Collection[str],
        error: int,
    ) -> None:
        self._below, self._strike_at, self._spares = below, strike_at, spares
        self._queries, self._errno = queries, error
        self._kinds = numbered()
        self._alive: set[int] = set()  # threads, by their numbers
        self._others: set[int] = set()  # those that run another program now
        self._root = 0
        self._error: BaseException | None = None
        self.calls: list[Call] = []
        self.struck_at: Call | None = None
        self.status = 0

    def trace(
        self,
        argv: Sequence[str],
        environ: Mapping[str, str],
        cwd: str,
        streams: Sequence[int],
    ) -> None:
        if not self._kinds:
            raise ptrace.NotPermitted("the system calls of this machine are not known")

        def work() -> None:
            try:
                numbers = list(self._kinds)
                self._root = ptrace.start(argv, environ, cwd, streams, numbers)
                self._alive.add(self._root)
                self._follow()
            except BaseException as error:
                self._error = error
                self._kill(self._alive)
                while ptrace.wait() is not None:
                    pass

        thread = threading.Thread(target=work)
        thread.start()
        thread.join(_PATIENCE)
        if thread.is_alive():
            self._kill(self._alive)
            thread.join()
            raise AssertionError(f"{argv}: no end within {_PATIENCE} s")
        if self._error is not None:
            raise self._error

    def _follow(self) -> None:
        while (stop := ptrace.wait()) is not None:
            self._alive.add(stop.pid)
            if stop.ended:
                self._alive.discard(stop.pid)
                if stop.pid == self._root:
                    self.status = os.waitstatus_to_exitcode(stop.status)
                continue
            if self._has_killed and not self._is_spared(stop.pid):
                self._kill([stop.pid])  # begun while the others were killed
            elif stop.is_call and not self._has_killed:
                self._at_call(stop.pid)
            ptrace.resume(stop.pid, stop.to_deliver)

    def _at_call(self, pid: int) -> None:
        found = ptrace.call_of(pid)
        if found is None:
            return
        number, args = found
        try:
            kind = self._kinds[number]
            call = decode(kind, args, pid, lambda at: ptrace.text_at(pid, at))
        except ProcessLookupError:
            return
        if call is None or (self._spares and self._is_spared(pid)):
            return
        if call.name.startswith("execve"):
            self._at_start(call, pid)
        elif any(path.startswith(self._below + "/") for path in call.paths):
            self._count(call, pid)

    def _at_start(self, call: Call, pid: int) -> None:
        """Another program begins. A search along PATH tries many that are not there."""
        if not os.path.exists(call.paths[0]) or (pid == self._root and not self.calls):
            return
        if os.path.basename(call.paths[0]) not in self._queries and not self._errno:
            self._count(call, pid)
        self._others.add(pid)

    def _count(self, call: Call, pid: int) -> None:
        self.calls.append(call)
        if len(self.calls) == self._strike_at:
            self._strike(call, pid)

    @property
    def _has_killed(self) -> bool:
        return self.struck_at is not None and not self._errno

    def _strike(self, call: Call, pid: int) -> None:
        self.struck_at = call
        if self._errno:
            ptrace.refuse(pid, self._errno)
        else:
            self._kill([each for each in self._alive if not self._is_spared(each)])

    def _is_spared(self, pid: int) -> bool:
        """Whether it is, or was started by, a program that comes to its own end."""
        while self._spares and pid > 1:
            pid, parent = _family(pid)
            if pid in self._others:
                return True
            pid = 0 if pid == self._root else parent
        return False

    @staticmethod
    def _kill(pids: Collection[int]) -> None:
        for pid in list(pids):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def _family(pid: int) -> tuple[int, int]:
    """The process of a thread, and the process that started that one."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0
    words = dict(line.split(":\t", 1) for line in status.splitlines())
    return int(words["Tgid"]), int(words["PPid"])
