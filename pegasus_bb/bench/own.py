"""Our own engine: processes on this machine, each a Python that does nothing else."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from typing import Any

from pegasus_bb.bench.engine import TimeIsUp
from pegasus_bb.bench.plan import Cell, Mode
from pegasus_bb.errors import NotMeasured
from pegasus_bb.process import start

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
COMMAND = (sys.executable, "-I", "-S", _PROGRAM)
_LEAD, _LEAD_EACH = 0.005, 0.0002  # seconds in which all are told when to begin


class Own:
    """Starts its processes once; each cell is done by the first so many of them."""

    def __init__(self, processes: int) -> None:
        self._workers: list[_Worker] = []
        try:
            for number in range(processes):
                self._workers.append(_Worker(number, processes))
        except OSError as error:
            self.close()
            raise NotMeasured(
                f"process {len(self._workers)} of {processes} cannot be started "
                f"({error.strerror}); fewer of them would do: --processes"
            ) from error

    def write(self, cell: Cell, folder: str, until: float) -> float:
        """As Engine has it."""
        return self._phase("write", cell, folder, until)

    def read(self, cell: Cell, folder: str, until: float) -> float:
        """As Engine has it."""
        return self._phase("read", cell, folder, until)

    def close(self) -> None:
        """As Engine has it."""
        for worker in self._workers:
            worker.end()
        self._workers = []

    def _phase(self, do: str, cell: Cell, folder: str, until: float) -> float:
        crew = self._workers[: cell.processes]
        for number, worker in enumerate(crew):
            worker.say(order(do, cell, folder, number, until))
        for worker in crew:
            worker.hear()
        begin = time.monotonic() + _LEAD + _LEAD_EACH * len(crew)
        for worker in crew:
            worker.say({"begin": begin})
        answers = [worker.hear() for worker in crew]
        if any("late" in answer for answer in answers):
            raise TimeIsUp
        ended = max(answer["ended"] for answer in answers)
        began = min(answer["began"] for answer in answers)
        return float(ended - began)


def order(
    do: str, cell: Cell, folder: str, number: int, until: float
) -> dict[str, Any]:
    """What process ``number`` has to do in a phase of ``cell``."""
    return {
        "do": do,
        "path": cell.path(folder, number),
        "offset": cell.offset(number),
        "block": cell.block,
        "transfer": cell.transfer,
        "direct": cell.mode is Mode.DIRECT,
        "fsync": cell.mode is Mode.FSYNC,
        "until": until,
    }


class _Worker:
    """A process of worker.py, and the line to it. Raises OSError, NotMeasured."""

    def __init__(self, number: int, of: int) -> None:
        ours, its = socket.socketpair()
        with ours, its:
            self._talk = ours.makefile("rwb")
            try:
                # Not in our session: Ctrl-C is for us, and we end all of them.
                self._process = start(
                    COMMAND, stdin=its.fileno(), stdout=its.fileno(), new_session=True
                )
            except OSError:
                self._talk.close()
                raise
        self._name = f"process {number} of {of}"

    def say(self, order: dict[str, Any]) -> None:
        try:
            self._talk.write(json.dumps(order).encode() + b"\n")
            self._talk.flush()
        except OSError as error:
            raise self._gone() from error

    def hear(self) -> dict[str, Any]:
        """The answer, unless it is a failure."""
        try:
            line = self._talk.readline()
        except OSError as error:
            raise self._gone() from error
        if not line:
            raise self._gone()
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise NotMeasured(f"{self._name}: {answer['failed']}")
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        try:
            self._talk.close()
        except OSError:
            pass  # what was not said yet, nobody hears

    def _gone(self) -> NotMeasured:
        status = self._process.wait()
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return NotMeasured(f"{self._name} ended by itself, with {how}")
