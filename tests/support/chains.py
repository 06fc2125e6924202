"""Chains of tasks whose files, all together, are too many for a tier."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

INPUT = 300_000  # bytes of the first file of each chain
MARK = ".pegasus_bb_scratch"  # the run's own, a few bytes


@dataclass(frozen=True)
class Chains:
    """``width`` chains of ``rungs`` tasks, each file read by the next task alone."""

    width: int
    rungs: int

    def workflow(self) -> dict[str, Any]:
        jobs = [
            _job(f"J{rung}-{chain}", reads, writes, rung, rung == self.rungs)
            for chain in range(self.width)
            for rung, (reads, writes) in enumerate(pairwise(self._names(chain)), 1)
        ]
        return {"pegasus": "5.0.4", "name": "chains", "jobs": jobs}

    def inputs(self) -> dict[str, bytes]:
        return {self._names(n)[0]: bytes([n]) * INPUT for n in range(self.width)}

    def results(self) -> dict[str, bytes]:
        """What the last task of each chain has to write."""
        found = {}
        for chain, data in enumerate(self.inputs().values()):
            for _ in range(self.rungs):
                data = hashlib.sha256(data).hexdigest().encode() + b"\n" + data
            found[self._names(chain)[-1]] = data
        return found

    def _names(self, chain: int) -> list[str]:
        return [f"{rung}-{chain}.dat" for rung in range(self.rungs + 1)]


def _job(ident: str, reads: str, writes: str, rung: int, result: bool) -> Any:
    uses: list[dict[str, Any]] = [
        {"lfn": reads, "type": "input", "metadata": {"size": _size(rung - 1)}},
        {"lfn": writes, "type": "output", "metadata": {"size": _size(rung)}},
    ]
    uses[1].update(stageOut=result, registerReplica=False)
    entry = {"type": "job", "name": "mix", "id": ident}
    return {**entry, "arguments": [writes, reads], "uses": uses}


def _size(rung: int) -> int:
    """What mix writes: a line with a digest, and all that it has read."""
    return INPUT + 65 * rung


@contextmanager
def watched(folder: Path, every: float = 0.002) -> Iterator[list[int]]:
    """Looks at the bytes below ``folder`` all the time; the list has the most."""
    most = [0]
    over = threading.Event()

    def look() -> None:
        while not over.wait(every):
            most[0] = max(most[0], _bytes_below(folder))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield most
    finally:
        over.set()
        watcher.join()


def _bytes_below(folder: Path) -> int:
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                found += os.lstat(f"{place}/{name}").st_size if name != MARK else 0
            except FileNotFoundError:
                pass  # gone since
    return found
