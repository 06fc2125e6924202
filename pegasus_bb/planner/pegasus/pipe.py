"""A file that somebody opens before it can be written."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Collection
from pathlib import Path

# For who looks at the first line before he reads the whole.
_FIRST = b"# as pegasus-bb gives it to pegasus-plan\n"
_WAIT = 50  # milliseconds
_SOON, _SELDOM = 0.02, 2.0  # seconds


class LateFile:
    """``path`` for a program that is started already: its readers find a comment and
    then wait, until there is a text and ``path`` is a file as any other.

    One reader at a time: two would take the text from each other.
    """

    def __init__(self, path: Path) -> None:
        """Raises OSError where the file system has no pipes."""
        self.path = path
        self.was_waited_for = False  # by a reader who got all of the text
        self._rest = memoryview(b"")
        self._text = self._rest
        os.mkfifo(path, 0o600)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # or writing would fail
        try:
            self._pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            os.write(self._pipe, _FIRST)
        finally:
            os.close(reader)

    def write(self, data: bytes) -> None:
        """Whoever opens the path from now on finds ``data``; whoever has done so
        waits for ``feed``. Raises OSError."""
        part = self.path.with_name(f".{self.path.name}.part")
        part.write_bytes(data)
        part.replace(self.path)
        self._text = self._rest = memoryview(data)

    def feed(self) -> None:
        """Give the text to a reader who came by the pipe, if there is one by now, as
        long as he takes it. To be called again, for the rest and for the next."""
        if self._pipe < 0:
            return
        poll = select.poll()
        poll.register(self._pipe, select.POLLOUT)
        try:
            while self._rest:
                if not poll.poll(_WAIT):
                    return  # he is busy, perhaps with another of the files
                self._rest = self._rest[os.write(self._pipe, self._rest) :]
        except BlockingIOError:  # there was room, and somebody else took it
            return
        except BrokenPipeError:  # nobody there, or he wanted no more
            self._rest = self._text
            return
        self.was_waited_for = True
        self.close()

    def close(self) -> None:
        """Readers find the end."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
            self._text = self._rest = memoryview(b"")


class Feeder:
    """Feeds ``files`` in a thread of its own, from ``start`` to the end of a block."""

    def __init__(self, files: Collection[LateFile]) -> None:
        self._files = files
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)

    def __enter__(self) -> Feeder:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def start(self) -> None:
        """To be called when all of them are written."""
        self._thread.start()

    def _feed(self) -> None:
        pause = _SOON
        while not self._over.wait(pause):
            for file in self._files:
                file.feed()
            pause = min(pause * 1.2, _SELDOM)  # nearly all come at once, or never
