"""Wait for what comes for certain."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def until(true: Callable[[], Any], seconds: float = 120.0, pause: float = 0.02) -> Any:
    """Return what ``true`` answers as soon as that is something."""
    deadline = time.monotonic() + seconds
    while not (answer := true()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s"
        time.sleep(pause)
    return answer


def until_gone(path: Path) -> None:
    until(lambda: not path.exists())
