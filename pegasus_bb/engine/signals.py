"""Ctrl-C, SIGTERM and a closed terminal, as something that a loop can look at."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any

_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """While it is entered, these signals are counted and wake up whoever reads
    ``handle``; afterwards everything is as it was."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self.handle = -1
        self._write = -1
        self._before: dict[int, Any] = {}
        self._wakeup = -1

    def __enter__(self) -> Signals:
        self.handle, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        if threading.current_thread() is threading.main_thread():
            self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
            for number in _STOP:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._before:
            signal.set_wakeup_fd(self._wakeup)
        os.close(self.handle)
        os.close(self._write)

    def drain(self) -> None:
        """Take out what woke us up."""
        try:
            while os.read(self.handle, 512):
                pass
        except BlockingIOError:
            pass

    def _note(self, number: int, _: FrameType | None) -> None:
        self.received.append(number)
