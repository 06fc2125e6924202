"""When lines about files that arrived are written: they cost a sync, and a crash costs
the files whose lines were not."""

from __future__ import annotations

import time

_LARGE = 8 << 20  # bytes; copying as many takes longer than a sync
_SOON = 1.0  # seconds


class Pace:
    """Of one journal."""

    def __init__(self, many: int) -> None:
        """``many``: so many lines are written at once, however fast they come."""
        self._many = many
        self._last = time.monotonic()

    def is_due(self, waiting: int, size: int = 0) -> bool:
        """Whether ``waiting`` lines should be written now, the last of a file of
        ``size`` bytes. Who is told so writes them."""
        now = time.monotonic()
        late = now - self._last >= _SOON
        due = waiting > 0 and (waiting >= self._many or size >= _LARGE or late)
        if due:
            self._last = now
        return due
