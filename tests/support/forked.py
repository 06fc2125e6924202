"""Programs in a forked process: no interpreter has to start for them."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from pegasus_bb.cli import COMMANDS, main

_PATIENCE = 240.0  # seconds
for _module in COMMANDS.values():
    importlib.import_module(_module)


def pegasus_bb(
    arguments: list[str], cwd: Path, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run would answer for ``python -m pegasus_bb ARGUMENTS``."""

    def command() -> None:
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environ)
        sys.argv = ["pegasus-bb", *arguments]
        main()

    return forked(command, arguments)


def forked(
    program: Callable[[], int | None], arguments: list[str]
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run would answer for ``program``, which returns its exit status."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _become(program, (out.fileno(), err.fileno()))
        status = _status_of(child)
        said = [_text(cast(BinaryIO, file)) for file in (out, err)]
    return subprocess.CompletedProcess(arguments, status, *said)


def _become(program: Callable[[], int | None], files: tuple[int, int]) -> NoReturn:
    status = 1
    try:
        _have_files(*files)
        status = program() or 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _have_files(out: int, err: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate((nothing, out, err)):
        os.dup2(file, number)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", errors="backslashreplace", closefd=False)


def _status_of(child: int) -> int:
    until = time.monotonic() + _PATIENCE
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise TimeoutError(f"it ran longer than {_PATIENCE:g} s")
        time.sleep(0.01)


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode()
