"""Jobs and scripts that are programs of the run: forked, in place of a Python each."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pegasus_bb.core import process
from pegasus_bb.run.engine.processes import Processes
from pegasus_bb.runtime.own_programs import is_as_planned, seen_at_start
from pegasus_bb.runtime.programs.fork_server import LARGEST

_SERVER = "fork_server"
Files = tuple[int, int, int]
FileKey = tuple[int, int, int]


class Forked:
    """A forked program, with what Children asks of a subprocess.Popen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None

    def poll(self) -> int | None:
        return self.status


class ForkServer:
    """The process that forks, and what it has told of its children."""

    def __init__(self, program: Path, processes: Processes) -> None:
        """Start it. Raises OSError."""
        self._processes = processes
        mark = str(program)  # all that it forks is found by it
        processes.starting(mark)
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = process.start(
                    [str(program)],
                    cwd="/",
                    env={**os.environ, processes.VARIABLE: mark},
                    stdin=theirs.fileno(),
                    stdout=process.DEVNULL,
                    new_session=True,
                )
            except OSError:
                self._socket.close()
                raise
        processes.started(mark, self._process.pid)
        self._running: dict[int, Forked] = {}
        self._ended: list[int] = []  # their PIDs, until they are asked for
        self.handle = self._socket.fileno()  # can be read when a child has ended
        self.is_gone = False

    @property
    def has_ended(self) -> bool:
        return bool(self._ended)

    def fork(self, request: bytes, files: Files) -> Forked | None:
        """None where it could not fork. Raises OSError where it is gone."""
        socket.send_fds(self._socket, [request], files)
        while (message := self._receive()) is not None:
            kind, *facts = message
            if kind == "started":
                job = self._running[facts[0]] = Forked(facts[0])
                return job
            if kind == "failed":
                return None
            self._note_end(*facts)
        raise ConnectionResetError

    def ended(self) -> list[int]:
        """PIDs of those that have ended since the last call; their status is set. All
        of them have if the server is gone: killed, because they have no parent."""
        with suppress(BlockingIOError):
            while (message := self._receive(socket.MSG_DONTWAIT)) is not None:
                self._note_end(*message[1:])
            self._end_all()
        found, self._ended = self._ended, []
        return found

    def close(self) -> None:
        self._socket.close()
        self._process.wait()
        self._processes.ended(self._process.pid)

    def _receive(self, flags: int = 0) -> list[Any] | None:
        """A message of the server; None where it is gone."""
        try:
            data = self._socket.recv(4096, flags)
        except ConnectionResetError:
            data = b""
        return json.loads(data) if data else None

    def _note_end(self, pid: int, status: int) -> None:
        self._running.pop(pid).status = status
        self._ended.append(pid)

    def _end_all(self) -> None:
        self.is_gone = True
        for pid in list(self._running):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            self._note_end(pid, -signal.SIGKILL)


class ForkedJobs:
    """What a run's fork server starts: the programs beside it that are as planned. It
    is started with the first of them, and a plan of before has none."""

    def __init__(
        self, programs: Path, processes: Processes, watch: Callable[[int], None]
    ) -> None:
        """``watch``: told of the descriptor that can be read when a job ends."""
        self._bin = programs
        self._processes = processes
        self._watch = watch
        self._environ = seen_at_start(os.environ)
        self._planned: dict[str, FileKey] | None = None  # program -> its file
        self._server: ForkServer | None = None

    @property
    def has_ended(self) -> bool:
        return self._server is not None and self._server.has_ended

    def start(
        self, argv: list[str], cwd: str, env: dict[str, str], files: Files
    ) -> Forked | None:
        """None where it must be started afresh."""
        if not (self.is_planned(argv[0]) and Path(cwd).is_dir()):
            return None
        request = json.dumps([argv, cwd, env]).encode()
        if len(request) > LARGEST or seen_at_start(env) != self._environ:
            return None
        try:
            if self._server is None:
                self._server = ForkServer(self._bin / _SERVER, self._processes)
                self._watch(self._server.handle)
            return None if self._server.is_gone else self._server.fork(request, files)
        except OSError:
            self._planned = {}
            return None

    def ended(self) -> list[int]:
        """PIDs of those that have ended since the last call."""
        return [] if self._server is None else self._server.ended()

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    def is_planned(self, program: str) -> bool:
        """Whether it is one of the programs beside the server, and as planned."""
        folder, name = os.path.split(program)
        if folder != str(self._bin):
            return False
        if self._planned is None:
            self._planned = dict(self._find_planned())
        return name in self._planned and self._planned[name] == _key(Path(program))

    def _find_planned(self) -> Iterator[tuple[str, FileKey]]:
        """The programs that are as planned: all but their name is as in the server."""
        server = self._bin / _SERVER
        if not server.is_file():
            return
        for path in self._bin.iterdir():
            key = _key(path)
            if is_as_planned(str(path), str(server)):
                yield path.name, key


def _key(path: Path) -> FileKey:
    """What changes where the file is replaced or edited."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0, 0
    return status.st_ino, status.st_mtime_ns, status.st_size
