"""Threads that remove folders beside the event loop, for all users by turns.

They are threads of their own, so that nothing else waits for a removal. They end with
the process: what is removed by halves goes on with the next service.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Callable

from pegasus_bb.core.removal import remove
from pegasus_bb.stager.messages import complain, message_of

_THREADS = 2
_SLICE = 1.0  # seconds of one removal; then the others have their turn
_AGAIN = 60.0  # seconds until what could not be removed is tried again

Then = Callable[[], None]


class Removers:
    """All calls come from the thread of the event loop, and it calls back."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._threads = loop, 0
        self._waiting: SimpleQueue[tuple[str, Then, str]] = SimpleQueue()

    def remove(self, path: str, then: Then) -> None:
        """Call ``then`` once ``path`` is gone, however often that has to be tried."""
        if self._threads < _THREADS:
            self._threads += 1
            threading.Thread(target=self._run, daemon=True).start()
        self._waiting.put((path, then, ""))

    def _run(self) -> None:
        while True:
            path, then, told = self._waiting.get()
            try:
                why = why_left(path)
            except TimeoutError:
                self._waiting.put((path, then, told))
                continue
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._tried, path, then, told, why)

    def _tried(self, path: str, then: Then, told: str, why: str) -> None:
        if not why:
            then()
            return
        if why != told:
            complain(f"not removed, so its space stays in use: {why}")
        again = partial(self._waiting.put, (path, then, why))
        self._loop.call_later(_AGAIN, again)


def why_left(path: str) -> str:
    """Empty where it is gone. Raises TimeoutError where its time is over."""
    try:
        remove(path, time.monotonic() + _SLICE)
    except OSError as error:
        if isinstance(error, TimeoutError) and error.errno is None:
            raise  # a file system has an errno
        return message_of(error)
    except Exception as error:  # the thread serves all
        return repr(error)
    return ""
