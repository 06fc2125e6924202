"""Standard error that may go away: a closed terminal, a reader that has ended."""

from __future__ import annotations

import os
import select
from typing import Any, TextIO, cast


def unbreakable(stream: TextIO) -> TextIO:
    """``stream``, which goes silent once its reader is gone: what a run says
    is no reason for the run to end."""
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
    except (OSError, ValueError):  # no file of the system's
        return
    poll = select.poll()
    poll.register(handle, 0)  # an error or a hang-up is told in any case
    if poll.poll(0):
        mute(stream)


def mute(stream: TextIO) -> None:
    """Also what Python still holds for ``stream`` can be written then: its exit
    status would be 120 otherwise."""
    try:
        handle = stream.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, handle)
    os.close(null)
