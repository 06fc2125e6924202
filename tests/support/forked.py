"""Programs in a forked process: no interpreter has to start for them."""

from __future__ import annotations

import gc
import importlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

from pegasus_bb.cli import COMMANDS, main
from pegasus_bb.core import process
from pegasus_bb.runtime import install

_PATIENCE = 240.0  # seconds
_PROGRAMS = {
    name: importlib.import_module(f"pegasus_bb.runtime.programs.{name}")
    for name in install.PROGRAMS
}
_start, _execve = process.start, os.execve
_replaced: list[Any] = []  # streams of the parent: dropped, they would be flushed
for _module in COMMANDS.values():
    importlib.import_module(_module)


def pegasus_bb(
    arguments: list[str], cwd: Path, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run would answer for ``python -m pegasus_bb ARGUMENTS``.

    An engine forks the programs of ``bb/bin`` as well.
    """

    shared_archive()

    def command() -> None:
        process.start = _start_program  # type: ignore[assignment]
        install.make_archive = shared_archive
        _have_command(arguments, cwd, environ)
        main()

    return forked(command, arguments)


def start_pegasus_bb(
    arguments: list[str], cwd: Path, environ: Mapping[str, str], errors: Path
) -> ForkedProcess:
    """The same in the background, with its stderr in a file; programs are real."""

    def command() -> None:
        os.closerange(3, 1024)
        _have_command(arguments, cwd, environ)
        main()

    with Path(os.devnull).open("r+b") as null, errors.open("wb") as err:
        streams = null.fileno(), null.fileno(), err.fileno()
        return ForkedProcess(lambda: _become(command, streams))


@cache
def shared_archive() -> bytes:
    """What ``make_archive`` makes, once for all plans."""
    return install.make_archive()


def install_programs(bb: Path) -> None:
    """As install_runtime, with the archive that all tests share."""
    archive = shared_archive()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(install, "make_archive", lambda: archive)
        install.install_runtime(str(bb), sys.executable)


def program(
    argv: list[str], cwd: Path, environ: Mapping[str, str], stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """As subprocess.run would answer for a program of ``bb/bin``.

    It is a real one if ``environ`` has a word for Python itself.
    """

    def run() -> int:
        os.chdir(cwd)
        return _run_program(argv, environ)

    for_python = any(name.startswith("PYTHON") for name in environ)
    if _is_ours(argv[0]) and not for_python:
        return _captured(run, argv, stdin)
    return subprocess.run(
        argv, cwd=cwd, env=environ, input=stdin, capture_output=True, timeout=_PATIENCE
    )


def forked(
    program: Callable[[], int | None], arguments: list[str]
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run would answer for ``program``, which returns its exit status."""
    done = _captured(program, arguments)
    texts = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(arguments, done.returncode, *texts)


def answered_here(
    program: Callable[[list[str]], int | None], argv: list[str]
) -> process.Finished:
    """What ``program`` answers in this process: it may exit, and only prints."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = program(argv) or 0
        except SystemExit as end:
            status = _status_of(end)
    return process.Finished(status, out.getvalue(), err.getvalue())


def _status_of(end: SystemExit) -> int:
    """The exit status of Python, which prints what is no number."""
    if isinstance(end.code, int):
        return end.code
    if end.code is not None:
        print(end.code, file=sys.stderr)
    return int(end.code is not None)


class ForkedProcess:
    """What users of subprocess.Popen ask of one, for a child that is ``become``."""

    def __init__(self, become: Callable[[], NoReturn]) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            become()

    def poll(self) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float = _PATIENCE) -> int:
        until = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > until:
                self.send_signal(signal.SIGKILL)
                raise TimeoutError(f"it ran longer than {timeout:g} s")
            time.sleep(0.005)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _start_program(
    argv: list[str], *, cwd: str, env: dict[str, str], **files: Any
) -> Any:
    """As process.start; a program of ``bb/bin`` that no test has changed is forked."""

    def become() -> NoReturn:
        os.setsid()
        os.chdir(cwd)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        streams = (
            _stream(files, "stdin"),
            _stream(files, "stdout"),
            _stream(files, "stderr"),
        )
        _become(lambda: _run_program(argv, env), streams)

    if _is_ours(argv[0]) and Path(cwd).is_dir():
        return ForkedProcess(become)
    return _start(argv, cwd=cwd, env=env, **files)


def _stream(files: Mapping[str, Any], name: str) -> int:
    """As a subprocess.Popen would have it."""
    file = files.get(name)
    if file == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_RDWR)
    return ("stdin", "stdout", "stderr").index(name) if file is None else file


def _run_program(argv: list[str], env: Mapping[str, str]) -> int:
    """Be the program; one of ours that it replaces itself by needs no start either."""

    def execve(path: str, argv: list[str], env: Mapping[str, str]) -> NoReturn:
        if not _is_ours(path):
            _execve(path, argv, env)
        _become(lambda: _run_program(argv, env), (0, 1, 2))

    os.execve = execve  # type: ignore[assignment]
    os.closerange(3, 1024)
    _have_environ(env)
    sys.argv = argv
    return cast(int, _PROGRAMS[Path(argv[0]).name].main())


def _is_ours(path: str) -> bool:
    """Whether it is a program of ``bb/bin`` as planned, for a usual Python."""
    name = Path(path).name
    if name not in _PROGRAMS:
        return False
    try:
        return Path(path).read_text() in [texts[name] for texts in _planned_texts()]
    except OSError:
        return False


@cache
def _planned_texts() -> list[dict[str, str]]:
    pythons = sys.executable, install.default_python()
    return [install.program_texts(python, shared_archive()) for python in pythons]


def _have_command(arguments: list[str], cwd: Path, environ: Mapping[str, str]) -> None:
    os.chdir(cwd)
    _have_environ(environ)
    sys.argv = ["pegasus-bb", *arguments]


def _have_environ(environ: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environ)


def _captured(
    program: Callable[[], int | None], arguments: list[str], stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(stdin)
        given.seek(0)
        streams = given.fileno(), out.fileno(), err.fileno()
        status = ForkedProcess(lambda: _become(program, streams)).wait()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, status, out.read(), err.read())


def _become(program: Callable[[], int | None], files: tuple[int, int, int]) -> NoReturn:
    status = 1
    gc.disable()
    try:
        _have_files(files)
        status = program() or 0
    except SystemExit as end:
        status = _status_of(end)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _have_files(files: tuple[int, int, int]) -> None:
    for number, file in enumerate([os.dup(file) for file in files]):
        os.dup2(file, number)
    _replaced.extend((sys.stdin, sys.stdout, sys.stderr))
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", errors="backslashreplace", closefd=False)
