"""Programs in a forked process: no interpreter has to start for them."""

from __future__ import annotations

import atexit
import io
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import IO, Any

from pegasus_bb.core import process
from pegasus_bb.runtime import install
from tests.support import fork_server
from tests.support.fork_server import PATIENCE, ForkedProcess

_SERVER = "from tests.support.fork_server import serve; serve()"


def pegasus_bb(
    arguments: list[str], cwd: Path, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run would answer for ``python -m pegasus_bb ARGUMENTS``.

    An engine forks the programs of ``bb/bin`` as well.
    """
    return served(fork_server.pegasus_bb, arguments, cwd, dict(environ), False)


def start_pegasus_bb(
    arguments: list[str], cwd: Path, environ: Mapping[str, str], errors: Path
) -> ServedProcess:
    """The same in the background, with its stderr in a file; programs are real."""
    with Path(os.devnull).open("r+b") as null, errors.open("wb") as err:
        words = arguments, cwd, dict(environ), True
        return ServedProcess(fork_server.pegasus_bb, words, (null, null, err))


def install_programs(bb: Path) -> None:
    install.install_runtime(str(bb), sys.executable)


def program(
    argv: list[str], cwd: Path, environ: Mapping[str, str], stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """As subprocess.run would answer for a program of ``bb/bin``.

    It is a real one if ``environ`` has a word for Python itself.
    """
    for_python = any(name.startswith("PYTHON") for name in environ)
    if fork_server.is_ours(argv[0]) and not for_python:
        words = argv, cwd, dict(environ)
        with _Streams(stdin) as streams:
            status = ServedProcess(fork_server.program, words, streams.all).wait()
            return subprocess.CompletedProcess(argv, status, *streams.written())
    return subprocess.run(
        argv, cwd=cwd, env=environ, input=stdin, capture_output=True, timeout=PATIENCE
    )


def ended(done: subprocess.CompletedProcess[bytes], status: int = 0) -> str:
    """What it has said, after it ended with ``status``."""
    assert done.returncode == status, done.stderr + done.stdout
    return done.stderr.decode()


def served(
    function: Callable[..., int | None], *arguments: Any
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run would answer for a program that is ``function(*arguments)``.

    It is a child of the fork server: it knows nothing of what a test has changed.
    """
    with _Streams() as streams:
        status = ServedProcess(function, arguments, streams.all).wait()
        texts = [text.decode() for text in streams.written()]
        return subprocess.CompletedProcess(list(arguments), status, *texts)


def forked(
    program: Callable[[], int | None], arguments: list[str]
) -> subprocess.CompletedProcess[str]:
    """The same for a ``program`` in a fork of this process, which costs more."""
    with _Streams() as streams:
        numbers = [stream.fileno() for stream in streams.all]
        status = ForkedProcess(lambda: fork_server.become(program, numbers)).wait()
        texts = [text.decode() for text in streams.written()]
        return subprocess.CompletedProcess(arguments, status, *texts)


def answered_here(
    program: Callable[[list[str]], int | None], argv: list[str]
) -> process.Finished:
    """What ``program`` answers in this process: it may exit, and only prints."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = program(argv) or 0
        except SystemExit as end:
            status = fork_server.status_of(end)
    return process.Finished(status, out.getvalue(), err.getvalue())


class ServedProcess:
    """What users of subprocess.Popen ask of one, for a child of the fork server."""

    def __init__(
        self,
        function: Callable[..., int | None],
        arguments: Sequence[Any],
        streams: Sequence[IO[bytes]],
    ) -> None:
        self.returncode: int | None = None
        answers, writer = os.pipe()
        self._answers = os.fdopen(answers)
        files = [*(stream.fileno() for stream in streams), writer]
        socket.send_fds(_server(), [pickle.dumps((function, arguments))], files)
        os.close(writer)
        self.pid = int(self._answers.readline())

    def poll(self, timeout: float = 0.0) -> int | None:
        if (
            self.returncode is None
            and select.select([self._answers], [], [], timeout)[0]
        ):
            with self._answers as answers:
                self.returncode = int(answers.readline())
        return self.returncode

    def wait(self, timeout: float = PATIENCE) -> int:
        status = self.poll(timeout)
        if status is None:
            self.send_signal(signal.SIGKILL)
            raise TimeoutError(f"it ran longer than {timeout:g} s")
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


@cache
def _server() -> socket.socket:
    """The way to a fork server, which ends with this process."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    root = Path(__file__).parents[2]
    with its:
        words = [sys.executable, "-c", _SERVER]
        server = subprocess.Popen(words, stdin=its.fileno(), cwd=root)

    @atexit.register
    def end() -> None:
        ours.close()
        server.wait()

    return ours


class _Streams:
    """The standard streams of a program, in files."""

    def __init__(self, stdin: bytes = b"") -> None:
        with ExitStack() as stack:
            self.all = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            self._close = stack.pop_all().close
        self.all[0].write(stdin)
        self.all[0].seek(0)

    def __enter__(self) -> _Streams:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def written(self) -> list[bytes]:
        for stream in self.all[1:]:
            stream.seek(0)
        return [stream.read() for stream in self.all[1:]]
