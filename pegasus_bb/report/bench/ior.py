"""ior (https://github.com/hpc/ior, 3.3 or newer) as an engine.

It runs under MPI, so its processes may be on several nodes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pegasus_bb.core.errors import NotMeasured
from pegasus_bb.core.process import start
from pegasus_bb.core.removal import remove
from pegasus_bb.core.units import MIB
from pegasus_bb.report.bench.cells import Cell

PROGRAM = "ior"
COUNT = "{n}"  # in a launcher: how many processes
_TRIAL = 60.0  # seconds
_TRIAL_BLOCK = 4096  # bytes of each process
_GRACE = 10.0  # seconds in which MPI may end its processes itself
_LINES = 3  # of the message of a failed ior


class Ior:
    """The engine that calls ior once for each phase."""

    def __init__(self, launcher: tuple[str, ...]) -> None:
        self._launcher = launcher
        self.name = PROGRAM  # with its version, once it has run
        self.because = f"started by {shlex.join(launcher)}"

    def trial(self, processes: int, folder: str, limit: float = _TRIAL) -> None:
        """Let each process write a page. Raises NotMeasured if ior does not do it in
        time."""
        trial = os.path.join(folder, "trial")
        try:
            os.mkdir(trial)
            self._phase("write", ["-w"], Cell(_TRIAL_BLOCK, processes), trial, limit)
        except OSError as error:
            raise NotMeasured(str(error)) from error
        finally:
            remove(trial)

    def write(self, cell: Cell, folder: str) -> float:
        """See ``Engine.write``; -e is fsync."""
        return self._phase("write", ["-w", "-e"], cell, folder)

    def read(self, cell: Cell, folder: str) -> float:
        """See ``Engine.read``. With -C each process reads the file of another node,
        because its own node may have the file in memory."""
        return self._phase("read", ["-r", "-C"], cell, folder)

    def close(self) -> None:
        """See ``Engine.close``: no process outlives a phase."""

    def _phase(
        self,
        do: str,
        options: list[str],
        cell: Cell,
        folder: str,
        limit: float = float("inf"),
    ) -> float:
        summary = os.path.join(os.path.dirname(folder), f"ior.{do}.json")
        launch = [word.replace(COUNT, str(cell.processes)) for word in self._launcher]
        try:
            _run([*launch, PROGRAM, *options, *_options(cell, folder, summary)], limit)
            with open(summary, encoding="utf-8", errors="replace") as source:
                answer = json.load(source)
        except (OSError, ValueError, RecursionError) as error:
            raise NotMeasured(f"ior left no JSON that can be read: {error}") from error
        finally:
            with suppress(FileNotFoundError):
                os.unlink(summary)
        first = next(_entries(answer), {})
        self.name = f"{PROGRAM} {first.get('Version', '')}".strip()
        return cell.total / bandwidth(answer, do)


def bandwidth(answer: Any, do: str) -> float:
    """Return the bytes per second of phase ``do`` in ior's summary. Raises
    NotMeasured."""
    for entry in _entries(answer):
        if entry.get("access") == do:
            with suppress(KeyError, TypeError, ValueError):
                found = float(entry["bwMiB"]) * MIB
                if 0 < found < float("inf"):
                    return found
    raise NotMeasured(f"ior's summary has no bandwidth of a {do}")


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping in ``value``: some versions nest results one list deeper."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _entries(inner)


def _options(cell: Cell, folder: str, summary: str) -> list[str]:
    """Return the options of both phases. -F: a file for each process; -k: keep it for
    the other phase."""
    options = ["-a", "POSIX", "-F", "-k"]
    options += ["-b", str(cell.block), "-t", str(cell.transfer)]
    options += ["-o", os.path.join(folder, "data")]
    return [*options, "-O", "summaryFormat=JSON", "-O", f"summaryFile={summary}"]


def _run(argv: list[str], limit: float) -> None:
    """Run ior. All its processes have ended when this returns or raises. Raises
    NotMeasured."""
    log = os.memfd_create("ior")
    try:
        try:
            process = start(argv, stdout=log, stderr=log, new_session=True)
        except OSError as error:
            why = f"{argv[0]} cannot be started: {error.strerror}"
            raise NotMeasured(why) from error
        try:
            if not _ended(process, limit):
                raise NotMeasured(f"a trial did not end within {limit:.0f} s")
        finally:
            _end(process)
        if process.returncode:
            message = _message(log)
            raise NotMeasured(f"ior ended with status {process.returncode}: {message}")
    finally:
        os.close(log)


def _end(process: Any) -> None:
    """Kill its process group until it is gone: a killed process may run a little
    longer."""
    if process.poll() is None:
        process.terminate()  # the launcher ends the processes on other nodes
        _ended(process, _GRACE)
    until = time.monotonic() + _GRACE
    with suppress(ProcessLookupError):
        while time.monotonic() < until:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            time.sleep(0.005)


def _ended(process: Any, limit: float) -> bool:
    until = time.monotonic() + limit
    while process.poll() is None:
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def _message(log: int) -> str:
    """Return the lines that ior marks as errors, else the last lines."""
    os.lseek(log, max(0, os.lseek(log, 0, os.SEEK_END) - 4096), os.SEEK_SET)
    text = os.read(log, 4096).decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")][:_LINES]
    return " / ".join(errors or lines[-_LINES:]) or "no message"
