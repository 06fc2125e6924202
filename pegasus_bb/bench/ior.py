"""ior (https://github.com/hpc/ior, 3.3 or newer) as an engine: under MPI, so its
processes may be on several nodes."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pegasus_bb.bench.engine import TimeIsUp
from pegasus_bb.bench.plan import Cell, Layout, Mode
from pegasus_bb.errors import NotMeasured
from pegasus_bb.process import start
from pegasus_bb.units import MIB

PROGRAM = "ior"
COUNT = "{n}"  # in a launcher: how many processes
_GRACE = 10.0  # seconds in which MPI may end its processes itself
_SAID = 3  # lines of a failed ior


class Ior:
    """One call of ior for each phase."""

    def __init__(self, launcher: tuple[str, ...], grace: float = _GRACE) -> None:
        self._launcher = launcher
        self._grace = grace
        self.version = ""  # as it says itself, once it has run

    def write(self, cell: Cell, folder: str, until: float) -> float:
        """As Engine has it."""
        fsync = ["-e"] if cell.mode is Mode.FSYNC else []
        return self._phase("write", ["-w", *fsync], cell, folder, until)

    def read(self, cell: Cell, folder: str, until: float) -> float:
        """As Engine has it. Nobody reads what it has written itself: another node
        has none of it in its memory."""
        return self._phase("read", ["-r", "-C"], cell, folder, until)

    def close(self) -> None:
        """As Engine has it: nothing outlives a phase."""

    def _phase(
        self, do: str, words: list[str], cell: Cell, folder: str, until: float
    ) -> float:
        summary = os.path.join(os.path.dirname(folder), f"ior.{do}.json")
        words = [*words, *_cell(cell, folder, summary)]
        try:
            status, said = self._call(words, cell, until)
            if status:
                raise NotMeasured(f"ior ended with status {status}: {said}")
            with open(summary, encoding="utf-8", errors="replace") as source:
                answer = json.load(source)
        except (OSError, ValueError, RecursionError) as error:
            raise NotMeasured(f"ior left no JSON that can be read: {error}") from error
        finally:
            with suppress(FileNotFoundError):
                os.unlink(summary)
        first = next(_entries(answer), {})
        self.version = str(first.get("Version", ""))
        return cell.total / bandwidth(answer, do)

    def _call(self, words: list[str], cell: Cell, until: float) -> tuple[int, str]:
        """Exit status, and the end of what was said. Raises NotMeasured, TimeIsUp."""
        argv = [word.replace(COUNT, str(cell.processes)) for word in self._launcher]
        log = os.memfd_create("ior")
        try:
            status = _run([*argv, PROGRAM, *words], log, until, self._grace)
            os.lseek(log, max(0, os.lseek(log, 0, os.SEEK_END) - 4096), os.SEEK_SET)
            return status, _telling(os.read(log, 4096).decode(errors="replace"))
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
    """Every mapping in ``value``: results are one list deeper in some versions."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _entries(inner)


def _cell(cell: Cell, folder: str, summary: str) -> list[str]:
    """Files are kept for the other phase; whoever made the folder removes it."""
    words = ["-a", "POSIX", "-k", "-b", str(cell.block), "-t", str(cell.transfer)]
    words += ["-o", os.path.join(folder, "data")]
    words += ["-F"] if cell.layout is Layout.FILES else []
    words += ["--posix.odirect"] if cell.mode is Mode.DIRECT else []
    return [*words, "-O", "summaryFormat=JSON", "-O", f"summaryFile={summary}"]


def _run(argv: list[str], log: int, until: float, grace: float) -> int:
    """The exit status. What was started has ended, however this ends."""
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
            process.terminate()  # what starts MPI processes ends those of other nodes
            _ended(process, time.monotonic() + grace)
        _kill(process, time.monotonic() + grace)


def _kill(process: Any, until: float) -> None:
    """End what is left of its group: one that is killed may write a little longer."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        while time.monotonic() < until:
            os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.005)


def _ended(process: Any, until: float) -> bool:
    """Whether that subprocess.Popen has, by then."""
    while process.poll() is None:
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def _telling(text: str) -> str:
    """What ior calls an error, before what follows from it; else the last words."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")][:_SAID]
    return " / ".join(errors or lines[-_SAID:]) or "nothing was said"
