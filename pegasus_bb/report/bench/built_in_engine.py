"""Python processes on this machine that only write and read."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pegasus_bb.core.errors import NotMeasured
from pegasus_bb.core.process import start
from pegasus_bb.report.bench.cells import Cell

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench_worker.py")
_COMMAND = (sys.executable, "-I", "-S", _PROGRAM)
OPERATED = 4096  # bytes that are written to each small file
# seconds for telling all of them when to begin
_LEAD = 0.005
_LEAD_EACH = 0.0002


class BuiltInBenchmark:
    """Starts its processes once; a cell takes as many of them as it needs."""

    def __init__(self, processes: int) -> None:
        self._workers: list[_Worker] = []
        try:
            for number in range(processes):
                self._workers.append(_Worker(f"process {number} of {processes}"))
        except OSError as error:
            self.close()
            raise NotMeasured(
                f"process {len(self._workers)} of {processes} cannot be started "
                f"({error.strerror}); use fewer: --processes"
            ) from error

    def write(self, cell: Cell, folder: str) -> float:
        """Return the seconds from the first open to the last close, with the data on
        the storage. Raises NotMeasured with the process that failed."""
        return self._phase("write", cell, folder)

    def read(self, cell: Cell, folder: str) -> float:
        """Do the same for reading what ``write`` has written."""
        return self._phase("read", cell, folder)

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
        self._workers = []

    def operate(self, processes: int, folder: str, seconds: float) -> float:
        """Return the operations a second of all ``processes`` together."""
        order = {"do": "operate", "transfer": OPERATED, "seconds": seconds}
        paths = (os.path.join(folder, str(number)) for number in range(processes))
        answers = self._all([{**order, "path": path} for path in paths])
        rates = (a["operations"] / (a["ended"] - a["began"]) for a in answers)
        return float(sum(rates))

    def _phase(self, do: str, cell: Cell, folder: str) -> float:
        order = {"do": do, "block": cell.block, "transfer": cell.transfer}
        paths = (cell.path(folder, number) for number in range(cell.processes))
        answers = self._all([{**order, "path": path} for path in paths])
        ended = max(answer["ended"] for answer in answers)
        return float(ended - min(answer["began"] for answer in answers))

    def _all(self, orders: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Give each process an order, let them begin together, and return their
        answers."""
        workers = self._workers[: len(orders)]
        for order, worker in zip(orders, workers, strict=True):
            worker.tell(order)
        for worker in workers:
            worker.hear()
        begin = time.monotonic() + _LEAD + _LEAD_EACH * len(workers)
        for worker in workers:
            worker.tell({"begin": begin})
        return [worker.hear() for worker in workers]


class _Worker:
    def __init__(self, name: str) -> None:
        self._name = name
        ours, its = socket.socketpair()
        with ours, its:
            self._line = ours.makefile("rwb")
            try:
                # A session of its own: Ctrl-C reaches us only, and we end all of them.
                self._process = start(
                    _COMMAND, stdin=its.fileno(), stdout=its.fileno(), new_session=True
                )
            except OSError:
                self._line.close()
                raise

    def tell(self, order: dict[str, Any]) -> None:
        try:
            self._line.write(json.dumps(order).encode() + b"\n")
            self._line.flush()
        except OSError as error:
            raise self._gone() from error

    def hear(self) -> dict[str, Any]:
        line = b""
        with suppress(OSError):
            line = self._line.readline()
        if not line:
            raise self._gone()
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise NotMeasured(f"{self._name}: {answer['failed']}")
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        with suppress(OSError):  # the process has not read all of it
            self._line.close()

    def _gone(self) -> NotMeasured:
        status = self._process.wait()
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return NotMeasured(f"{self._name} ended by itself, with {how}")
