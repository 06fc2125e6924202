"""Forks programs for tests: a small process forks faster than that of pytest."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any, NoReturn, cast

from pegasus_bb.cli import COMMANDS, main
from pegasus_bb.core import process
from pegasus_bb.runtime import install, proc

PATIENCE = 240.0  # seconds
_LARGEST = 1 << 20  # bytes of a request
_PROGRAMS = {
    name: importlib.import_module(f"pegasus_bb.runtime.programs.{name}")
    for name in install.PROGRAMS
}
# What engines and programs of tests import late, at a cost for each process.
_LATE = (
    "htcondor2",
    "pegasus_bb.runtime.backends.folder_tier",
    "pegasus_bb_testbed.datawarp.program",
)
_COMMAND = [sys.executable, "-m", "pegasus_bb"]
_start, _execve, _spawn = process.start, os.execve, proc.RunningProgram._spawn
make_archive = install.make_archive  # the real one
_replaced: list[Any] = []  # streams of the parent: dropped, they would be flushed


def serve() -> None:
    """Answer the requests that come through stdin, until the tests close it.

    A request is a pickled function with its arguments. Four descriptors come with it:
    the streams of the new process, and the pipe that gets its pid, then its status.
    """
    share_archive()
    _planned_texts()
    for module in [*COMMANDS.values(), *_LATE]:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    with socket.socket(fileno=0) as requests, DefaultSelector() as selector:
        selector.register(requests, EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.data:
                    selector.unregister(key.fd)
                    _report_end(key.fd, *key.data)
                    continue
                request, files, _, _ = socket.recv_fds(requests, _LARGEST, 4)
                if not request:
                    return
                child = ForkedProcess(partial(_answer, request, files[:3]))
                for stream in files[:3]:
                    os.close(stream)
                os.write(files[3], f"{child.pid}\n".encode())
                end = os.pidfd_open(child.pid)
                selector.register(end, EVENT_READ, (child, files[3]))


def _report_end(end: int, child: ForkedProcess, answers: int) -> None:
    os.close(end)
    os.write(answers, f"{child.wait()}\n".encode())
    os.close(answers)


def _answer(request: bytes, streams: list[int]) -> NoReturn:
    def program() -> int | None:
        os.closerange(3, 1024)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        function, arguments = pickle.loads(request)  # noqa: S301 - of our tests
        return cast("int | None", function(*arguments))

    become(program, streams)


def share_archive() -> None:
    """Make the archive of the modules that travel once for all plans."""
    archive = make_archive()
    install.make_archive = lambda: archive


def pegasus_bb(
    arguments: list[str], cwd: Path, environ: Mapping[str, str], real_programs: bool
) -> None:
    """Be ``python -m pegasus_bb ARGUMENTS``.

    An engine forks the programs of ``bb/bin`` as well, unless they are to be real.
    """
    if not real_programs:
        process.start = _start_program  # type: ignore[assignment]
    os.chdir(cwd)
    _have_environ(environ)
    sys.argv = ["pegasus-bb", *arguments]
    main()


def program(argv: list[str], cwd: Path, environ: Mapping[str, str]) -> int:
    """Be a program of ``bb/bin``; what it starts of ours, or becomes, is forked too."""
    os.execve = _become_program  # type: ignore[assignment]
    proc.RunningProgram._spawn = _spawn_program  # type: ignore[assignment,method-assign]
    proc.group_is_guarded = False
    atexit._clear()  # those of the engine: a fork of a cluster would run them
    os.closerange(3, 1024)
    os.chdir(cwd)
    _have_environ(environ)
    sys.argv = argv
    return cast(int, _PROGRAMS[Path(argv[0]).name].main())


def _become_program(path: str, argv: list[str], env: Mapping[str, str]) -> NoReturn:
    """As os.execve."""
    if not _is_forked(path, argv):
        _execve(path, argv, env)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as Python starts
    for ignored in proc.IGNORED:
        signal.signal(ignored, signal.SIG_IGN)
    if argv[:3] == _COMMAND:
        become(lambda: pegasus_bb(argv[3:], Path.cwd(), env, False), (0, 1, 2))
    become(lambda: program(argv, Path.cwd(), env), (0, 1, 2))


def _spawn_program(running: proc.RunningProgram, streams: Sequence[int]) -> int:
    """As RunningProgram._spawn, which starts what is not ours."""
    is_forked = _is_forked(running._program, running._argv)
    start = proc.RunningProgram._start if is_forked else _spawn
    return start(running, streams)


def _is_forked(path: str, argv: list[str]) -> bool:
    return argv[:3] == _COMMAND or is_ours(path)


def is_ours(path: str) -> bool:
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
    archive = install.make_archive()
    return [install.program_texts(python, archive) for python in pythons]


class ForkedProcess:
    """What users of subprocess.Popen ask of one, for a child that is ``child``."""

    def __init__(self, child: Callable[[], NoReturn]) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            child()

    def poll(self) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float = PATIENCE) -> int:
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


def _start_program(argv: list[str], **options: Any) -> Any:
    """As process.start; a program of ``bb/bin`` that no test has changed is forked."""

    def child() -> NoReturn:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        streams = [_stream(options, name) for name in ("stdin", "stdout", "stderr")]
        become(lambda: program(argv, cwd, options["env"]), streams)

    cwd = Path(options.get("cwd") or ".")
    if is_ours(argv[0]) and cwd.is_dir():
        return ForkedProcess(child)
    return _start(argv, **options)


def _stream(options: Mapping[str, Any], name: str) -> int:
    """As a subprocess.Popen would have it."""
    file = options.get(name)
    if file == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_RDWR)
    return ("stdin", "stdout", "stderr").index(name) if file is None else file


def _have_environ(environ: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environ)


def become(program: Callable[[], int | None], streams: Sequence[int]) -> NoReturn:
    """Be ``program``, which returns its exit status, with these streams."""
    status = 1
    gc.disable()
    try:
        _have_streams(streams)
        status = program() or 0
    except SystemExit as end:
        status = status_of(end)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def status_of(end: SystemExit) -> int:
    """The exit status of Python, which prints what is no number."""
    if isinstance(end.code, int):
        return end.code
    if end.code is not None:
        print(end.code, file=sys.stderr)
    return int(end.code is not None)


def _have_streams(streams: Sequence[int]) -> None:
    for number, stream in enumerate([os.dup(stream) for stream in streams]):
        os.dup2(stream, number)
    _replaced.extend((sys.stdin, sys.stdout, sys.stderr))
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", errors="backslashreplace", closefd=False)
