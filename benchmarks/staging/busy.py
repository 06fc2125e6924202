"""Keeps cores busy while a program copies, as the tasks of a compute node do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """Keep ``count`` cores busy; what that costs is not the program's."""
    spin = [sys.executable, "-c", "while True: pass"]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            started.append(subprocess.Popen(spin))
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()
