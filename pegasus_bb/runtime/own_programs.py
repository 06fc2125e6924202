"""Starts one of our own programs as a fork of this process.

A new Python, with what it loads, costs more than most of them do.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping
from importlib import import_module

from pegasus_bb.core.files import read_text
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.proc import IGNORED, RunningProgram

if TYPE_CHECKING:
    import signal
    from typing import Any, NoReturn
else:  # without the enums, as in proc.py
    import _signal as signal

PROGRAMS = "pegasus_bb.runtime.programs"
_STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}
_FORKED = ("launch", "record", "transfer", "setup", "delete")
# Python, the loader and the C library look at these when they start: a fork would not
# see a change.
_AT_START = ("LC_", "LANG", "LD_", "PYTHON", "GLIBC_", "MALLOC_", "TZ")


def own_program(program: str) -> str:
    """The name of ``program`` if a fork of this process can be it; else empty."""
    folder, name = os.path.split(program)
    if name not in _FORKED:
        return ""
    beside = os.path.dirname(os.path.abspath(sys.argv[0]))
    return name if os.path.abspath(folder) == beside else ""


def is_as_planned(program: str, other: str) -> bool:
    """Whether ``program`` differs from ``other``, one of ours, in its name alone.

    A user may have put something else in its place.
    """
    text = _text(other).replace(os.path.basename(other), os.path.basename(program))
    return bool(text) and _text(program) == text


def _text(path: str) -> str:
    try:
        return read_text(path)
    except OSError:
        return ""


def seen_at_start(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that a program looks at when it starts."""
    return {k: v for k, v in environ.items() if k.startswith(_AT_START)}


def load(name: str) -> Any:
    """The module of program ``name``: loaded once, before the fork. Raises
    ImportError."""
    full = f"{PROGRAMS}.{name}"
    if full not in sys.modules:
        import_module(full)
        freeze()
    return sys.modules[full]


def freeze() -> None:
    """Keep what is there out of collections: one in a child would copy all of it."""
    gc.collect()
    gc.freeze()


class OwnProgram(RunningProgram):
    """One of our programs, which ``load`` has loaded, or another program."""

    _may_spawn = False

    def _become(self, report: int) -> None:
        name = own_program(self._program)
        if not name or seen_at_start(self._environ) != seen_at_start(os.environ):
            super()._become(report)
        for ignored in IGNORED:  # as Python starts
            signal.signal(ignored, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.close(report)
        # As a script that #! starts: its folder is the run's.
        become(load(name), [self._program, *self._argv[1:]], self._environ)


def become(program: Any, argv: list[str], environ: Mapping[str, str]) -> NoReturn:
    """Run the module ``program`` as the program ``argv``, and end this process."""
    status = 1
    try:
        _change_environment(environ)
        _open_streams()
        sys.argv = argv
        status = program.main()
    except SystemExit as end:
        status = _status_of(end)
    except BaseException as error:
        import traceback  # no program has it loaded

        traceback.print_exc()
        if isinstance(error, KeyboardInterrupt):
            _finish(status)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)  # as Python ends then
    finally:
        os._exit(_finish(status))


def _open_streams() -> None:
    """Open those that this process had closed when it started: a program has others."""
    for number, (name, mode) in enumerate(_STREAMS.items()):
        if getattr(sys, name) is None:
            try:
                stream = open(number, mode, closefd=False)  # noqa: SIM115 - until its end
            except OSError:  # it is closed for the program, too
                continue
            setattr(sys, name, stream)


def _change_environment(environ: Mapping[str, str]) -> None:
    """Only what differs: a job has nearly all of its parent's variables."""
    for name in [each for each in os.environ if each not in environ]:
        del os.environ[name]
    for name, value in environ.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _status_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


def _finish(status: int) -> int:
    """What a Python does at its end; 120, as its, where the output is not written."""
    if "atexit" in sys.modules:
        sys.modules["atexit"]._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except OSError:
        return 120
    return status & 0xFF
