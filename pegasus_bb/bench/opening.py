"""How long it takes to open one file: what the cost model calls latency."""

from __future__ import annotations

import os
import time

_FILES = 64  # of each repetition


def opening(folder: str) -> float:
    """Mean seconds of opening a file of ``folder``, once to make it, once again.

    Raises OSError.
    """
    paths = [os.path.join(folder, f"open.{number}") for number in range(_FILES)]
    try:
        begun = time.perf_counter()
        for flags in (os.O_WRONLY | os.O_CREAT, os.O_RDONLY):
            for path in paths:
                os.close(os.open(path, flags, 0o600))
        return (time.perf_counter() - begun) / (2 * _FILES)
    finally:
        for path in paths:
            if os.path.lexists(path):
                os.unlink(path)
