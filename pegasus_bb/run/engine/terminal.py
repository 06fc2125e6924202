"""Keeps a run alive when its terminal is closed or the reader of its output exits."""

from __future__ import annotations

import os
import select
from typing import Any, TextIO, cast


def unbreakable(stream: TextIO) -> TextIO:
    """``stream``, without errors once its reader is gone: output that cannot be written
    must not end the run."""
    return cast(TextIO, _Unbreakable(stream))


class _Unbreakable:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            mute(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            mute(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def mute_if_gone(stream: TextIO) -> None:
    """Discard what is written to ``stream`` from now on, if its reader is gone."""
    try:
        handle = stream.fileno()
    except (OSError, ValueError):  # not a real file
        return
    poll = select.poll()
    poll.register(handle, 0)  # errors and hang-ups are always reported
    if poll.poll(0):
        mute(stream)


def mute(stream: TextIO) -> None:
    """Redirect ``stream`` to /dev/null, also for what Python has buffered: its exit
    status would be 120 otherwise."""
    try:
        handle = stream.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, handle)
    os.close(null)
