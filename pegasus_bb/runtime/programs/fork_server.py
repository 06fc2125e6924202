"""Forks the other programs of a run for the embedded engine, which is our stdin.

A start of Python costs more than a short task. This process has the programs loaded; a
fork of it is a job as a fresh start would be: its own session, folder, environment,
descriptors and signals. The engine sends a JSON list of argv, cwd and environment with
the descriptors 0, 1 and 2; it reads ["started", pid], and later ["ended", pid, status].
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from pegasus_bb.core.errors import USAGE, PegasusBBError
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime import proc
from pegasus_bb.runtime.backends.backend_table import backend_of
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.own_programs import PROGRAMS, become, freeze, load, own_program

if TYPE_CHECKING:
    from typing import Any, NoReturn

LARGEST = 100_000  # bytes of a request; a socket takes twice as much
# What launch loads only where it needs it, and most jobs do.
_OF_LAUNCH = (f"{PROGRAMS}.record", "pegasus_bb.runtime.private_folder")


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until the engine closes the socket; its jobs run on."""
    try:
        engine = socket.socket(fileno=os.dup(0))
    except OSError:
        print("fork_server: pegasus-bb run starts it, not a person", file=sys.stderr)
        return USAGE
    serve(engine)
    return 0


def serve(engine: socket.socket) -> None:
    """Answer requests and report ends until the other side of ``engine`` is closed."""
    wakeup, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(engine, select.POLLIN)
    poll.register(wakeup, select.POLLIN)
    while True:
        due = {handle for handle, _ in poll.poll()}
        if wakeup in due:
            with contextlib.suppress(BlockingIOError):
                os.read(wakeup, 4096)
            _report_ends(engine)
        if engine.fileno() in due:
            try:
                data, files, _, _ = socket.recv_fds(engine, LARGEST, 3)
            except ConnectionResetError:  # the engine was killed
                return
            if not data:
                return
            _answer(engine, json.loads(data), files)


def _report_ends(engine: socket.socket) -> None:
    while True:
        try:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if found is None:
            return
        if found.si_code != os.CLD_EXITED:  # before its number is free for another
            _end_group(found.si_pid)
        pid, raw = os.waitpid(found.si_pid, 0)
        status = -os.WTERMSIG(raw) if os.WIFSIGNALED(raw) else os.WEXITSTATUS(raw)
        _say(engine, "ended", pid, status)


def _end_group(leader: int) -> None:
    """End what a killed job has left: its task, which does not die with it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _answer(engine: socket.socket, request: Any, files: list[int]) -> None:
    argv, cwd, environ = request
    try:
        program = _loaded(argv)
        pid = os.fork()
    except (ImportError, OSError) as error:  # it is started afresh, and says why
        _say(engine, "failed", str(error))
    else:
        if pid == 0:
            _be(program, argv, cwd, environ, files)
        _say(engine, "started", pid)
    for handle in files:
        os.close(handle)


def _loaded(argv: list[str]) -> Any:
    """The module of the program ``argv``; what it will fork is loaded as well."""
    name = os.path.basename(argv[0])
    is_first_launch = name == "launch" and f"{PROGRAMS}.{name}" not in sys.modules
    program = load(name)
    if is_first_launch:
        _load_for_jobs()
    for other in filter(None, map(own_program, argv[1:])):
        load(other)
    return program


def _load_for_jobs() -> None:
    for module in _OF_LAUNCH:
        import_module(module)
    bb = BBDir.of_this_program()
    with contextlib.suppress(PegasusBBError):  # the job says it
        if bb.has_request:
            request = bb.request()
            backend_of(request)
    freeze()


def _be(
    program: Any, argv: list[str], cwd: str, environ: dict[str, str], files: list[int]
) -> NoReturn:
    """Be the program in this process, which is new, and end it."""
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, handle in enumerate(files):
            os.dup2(handle, number)
        os.closerange(3, max(64, *files) + 64)
        os.chdir(cwd)
        proc.group_is_guarded = True
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    become(program, argv, environ)


def _say(engine: socket.socket, *words: object) -> None:
    with contextlib.suppress(OSError):  # the engine is gone; its jobs run on
        engine.send(json.dumps(words).encode())
