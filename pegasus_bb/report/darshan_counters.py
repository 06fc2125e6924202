"""Darshan logs -> what they say of their programs.

A log is of one execution of a program: of all its ranks under MPI, else of one process.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.missing_library import not_installed
from pegasus_bb.core.process import Finished, ask
from pegasus_bb.model.run import Calls, FileUse, Layer, Problem
from pegasus_bb.report.uses import is_data

MODULES = ("POSIX", "MPI-IO", "STDIO")
SUFFIX = ".darshan"
LOGS = "darshan"  # below a submit directory: LOGS/<node>/<year>/<month>/<day>
UNFINISHED = ".darshan_partial"  # what a program that was killed leaves
_AT_ONCE = 500  # logs for one process of PyDarshan's
_MAGIC = (6567223).to_bytes(8, "little")  # after eight bytes of version
# user_program_id<job>-<process>_...; older ones have no process. Where no scheduler has
# a number for the job, it is that of the process from which all others were forked.
_NAME = re.compile(r"_id(\d+)-(\d+)_")
_READER = """
import sys
sys.path[:] = sys.argv[1].split("\\n")  # what this Python imports, and no folder else
from pegasus_bb.report.darshan_log import main
main(sys.argv[2:])
"""


@dataclass(frozen=True, slots=True)
class Log:
    file: str
    start: float  # seconds since the epoch; some logs know whole ones only
    seconds: float
    pids: tuple[int, ...]  # of its process, then of what may be the task's own process
    command: str  # as /proc/PID/cmdline had it, blanks between
    modules: Mapping[str, Layer]  # POSIX, MPI-IO, STDIO: what each saw
    calls: Calls | None  # all of it, each byte once; None where some was not counted
    files: tuple[FileUse, ...]
    is_empty: bool = False  # whole, and there was nothing to count

    @property
    def node(self) -> str:
        """The node for which launch made the folder of the log; empty if it is
        elsewhere."""
        *_, folder, node, year, month, day, _ = ("",) * 6 + Path(self.file).parts
        dated = all(part.isdecimal() for part in (year, month, day))
        return node if folder == LOGS and dated else ""

    @property
    def end(self) -> float:
        return self.start + self.seconds


class NoPyDarshan(UsageError):
    """Raised if PyDarshan is not installed."""


def is_log(path: Path) -> bool:
    """Whether the file at ``path`` is a Darshan log, whatever it is called."""
    try:
        with path.open("rb") as source:
            begin = source.read(16)
    except OSError:
        return False
    return path.suffix == SUFFIX or begin[8:] in (_MAGIC, _MAGIC[::-1])


def read_logs(paths: Sequence[Path]) -> Iterator[Log | Problem]:
    """Yield what each log says, or a Problem for each that says nothing, or not all.

    Raises NoPyDarshan if nothing can be read.
    """
    if paths and find_spec("darshan") is None:
        why = not_installed("reading Darshan logs", "darshan")
        raise NoPyDarshan(f"{paths[0]}: {why}")
    left = list(paths)
    while left:
        some = left[:_AT_ONCE]
        answer = _ask(some)
        lines = answer.out.splitlines()
        for path, line in zip(some, lines, strict=False):
            yield from _understood(path, orjson.loads(line))
        del left[: len(lines)]
        if len(lines) < len(some):
            # A signal is what the next log did to PyDarshan; else it never got as far.
            lost = 1 if answer.status < 0 else len(left)
            yield from (Problem(str(path), _why(answer)) for path in left[:lost])
            del left[:lost]


def _ask(paths: Iterable[Path]) -> Finished:
    words = [sys.executable, "-c", _READER, "\n".join(sys.path), *map(str, paths)]
    # Of one thread: more take 64 MiB of address space each, and nothing is computed.
    environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    return ask(words, timeout=86400.0, env=environ)


def _why(answer: Finished) -> str:
    if answer.status == -signal.SIGALRM:
        return "reading it takes too long: it is damaged, or very large"
    if answer.status < 0:
        return f"PyDarshan did not survive it: {signal.strsignal(-answer.status)}"
    last = (answer.err.strip().splitlines() or [f"exit {answer.status}"])[-1]
    return f"PyDarshan cannot be started: {last}"


def _understood(path: Path, found: dict[str, Any]) -> Iterator[Log | Problem]:
    if "why" in found:
        yield Problem(str(path), found["why"])
        return
    holes = _holes(found)
    if holes:
        yield Problem(str(path), f"{holes}; its bytes and times are not known")
    ids = _NAME.search(path.name)
    seconds = found["seconds"]  # all processes of a program are as old as it
    layers = (
        replace(layer, run_time=layer.processes * seconds)
        for layer in _layers(found["modules"])
    )
    modules = {layer.name: layer for layer in layers}
    yield Log(
        file=str(path),
        start=found["start"],
        seconds=seconds,
        pids=(int(ids.group(2)), int(ids.group(1))) if ids else (),
        command=" ".join(found["command"].split()),
        modules=modules,
        calls=None if holes or not modules else _calls(found, modules),
        files=tuple(_files(found["files"])),
        is_empty=not holes and not modules,
    )


def _holes(found: dict[str, Any]) -> str:
    if found["partial"]:
        names = ", ".join(found["partial"])
        return f"partial: Darshan had no room for all files ({names})"
    if found["unread"]:
        return f"it has records of {', '.join(found['unread'])}, which are not read"
    return ""


def _layers(moved: Mapping[str, Sequence[Any]]) -> tuple[Layer, ...]:
    return tuple(Layer(name, *numbers) for name, numbers in moved.items())


def _calls(found: Mapping[str, Any], modules: Mapping[str, Layer]) -> Calls:
    """Sum the calls that moved the bytes: MPI-IO's only if POSIX does not see all."""
    none = Layer("", 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    posix, mpi, stdio = (modules.get(name, none) for name in MODULES)
    unseen = posix.read + posix.written < mpi.read + mpi.written
    seconds = (mpi if unseen else posix).seconds + stdio.seconds
    counted = {name: found[name] for name in ("data", "metadata", "meta_time")}
    return Calls(found["read"], found["written"], seconds, **counted)


def _files(
    rows: Iterable[tuple[str, int, int, int | None, Mapping[str, Sequence[Any]]]],
) -> Iterator[FileUse]:
    """Yield the files. One that was only opened may have been used by a forked process,
    unseen."""
    for path, read, written, size, layers in rows:
        if is_data(path):
            yield FileUse(
                name=path,
                path=path,
                size=size,
                output=written > 0,
                bytes_read=read if read or written else None,
                bytes_written=written if read or written else None,
                layers=_layers(layers) if read or written else (),
            )
