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

from pegasus_bb.bench.engine import TimeIsUp
from pegasus_bb.bench.plan import Cell
from pegasus_bb.errors import NotMeasured
from pegasus_bb.process import start
from pegasus_bb.units import MIB

PROGRAM = "ior"
COUNT = "{n}"  # in a launcher: how many processes
_GRACE = 10.0  # seconds in which MPI may end its processes itself
_LINES = 3  # of the message of a failed ior


class Ior:
    """One call of ior for each phase."""

    def __init__(self, launcher: tuple[str, ...], grace: float = _GRACE) -> None:
        self._launcher = launcher
        self._grace = grace
        self.name = PROGRAM  # with its version, once it has run
        self.because = f"started by {shlex.join(launcher)}"

    def write(self, cell: Cell, folder: str, until: float) -> float:
        """See ``Engine.write``; -e is fsync."""
        return self._phase("write", ["-w", "-e"], cell, folder, until)

    def read(self, cell: Cell, folder: str, until: float) -> float:
        """See ``Engine.read``. With -C each process reads the file of another node,
        because its own node may have the file in memory."""
        return self._phase("read", ["-r", "-C"], cell, folder, until)

    def close(self) -> None:
        """See ``Engine.close``: no process outlives a phase."""

    def _phase(
        self, do: str, words: list[str], cell: Cell, folder: str, until: float
    ) -> float:
        summary = os.path.join(os.path.dirname(folder), f"ior.{do}.json")
        words = [*words, *_cell(cell, folder, summary)]
        try:
            status, message = self._call(words, cell, until)
            if status:
                raise NotMeasured(f"ior ended with status {status}: {message}")
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

    def _call(self, words: list[str], cell: Cell, until: float) -> tuple[int, str]:
        """Exit status and failure message. Raises NotMeasured, TimeIsUp."""
        argv = [word.replace(COUNT, str(cell.processes)) for word in self._launcher]
        log = os.memfd_create("ior")
        try:
            status = _run([*argv, PROGRAM, *words], log, until, self._grace)
            os.lseek(log, max(0, os.lseek(log, 0, os.SEEK_END) - 4096), os.SEEK_SET)
            return status, _message(os.read(log, 4096).decode(errors="replace"))
        finally:
            os.close(log)


def bandwidth(answer: Any, do: str) -> float:
    """Bytes per second of phase ``do`` in a summary of ior's. Raises NotMeasured."""
    for entry in _entries(answer):
        if entry.get("access") == do:
            with suppress(KeyError, TypeError, ValueError):
                found = float(entry["bwMiB"]) * MIB
                if 0 < found < float("inf"):
                    return found
    raise NotMeasured(f"ior's summary has no bandwidth of a {do}")


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in ``value``: some versions nest results one list deeper."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _entries(inner)


def _cell(cell: Cell, folder: str, summary: str) -> list[str]:
    """-F: a file for each process; -k: keep it for the other phase."""
    words = ["-a", "POSIX", "-F", "-k"]
    words += ["-b", str(cell.block), "-t", str(cell.transfer)]
    words += ["-o", os.path.join(folder, "data")]
    return [*words, "-O", "summaryFormat=JSON", "-O", f"summaryFile={summary}"]


def _run(argv: list[str], log: int, until: float, grace: float) -> int:
    """The exit status. All processes have ended when this returns or raises."""
    try:
        process = start(argv, stdout=log, stderr=log, new_session=True)
    except OSError as error:
        raise NotMeasured(f"{argv[0]} cannot be started: {error.strerror}") from error
    try:
        if not _ended(process, until):
            raise TimeIsUp
        return process.returncode
    finally:
        if process.poll() is None:
            process.terminate()  # the launcher ends the processes on other nodes
            _ended(process, time.monotonic() + grace)
        _kill(process, time.monotonic() + grace)


def _kill(process: Any, until: float) -> None:
    """Kill its process group, again and again: a killed process may go on a little."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        while time.monotonic() < until:
            os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.005)


def _ended(process: Any, until: float) -> bool:
    """Whether the process has ended by then."""
    while process.poll() is None:
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def _message(text: str) -> str:
    """The lines that ior marks as errors; else the last lines."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")][:_LINES]
    return " / ".join(errors or lines[-_LINES:]) or "no message"
