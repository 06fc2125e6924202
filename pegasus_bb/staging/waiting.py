"""Waiting for threads, a moment at a time, so that it can be interrupted.

Not by Thread.join: interrupted by Ctrl-C it takes the thread for ended from then on
(Python 3.7 to 3.13), and whoever joins again goes on while the thread still works.
"""

from __future__ import annotations

import queue
import threading
from typing import Any, Iterator

_MOMENT = 0.25  # seconds


def until(event: threading.Event) -> Iterator[None]:
    """Ends when ``event`` is set; the caller has a turn every moment."""
    while not event.wait(_MOMENT):
        yield
    yield


def put_in(line: queue.Queue[Any], thing: Any) -> Iterator[None]:
    """Ends when ``thing`` is in ``line``; the caller has a turn every moment."""
    while True:
        try:
            line.put(thing, timeout=_MOMENT)
            break
        except queue.Full:
            yield
    yield
