"""What measures: our own processes, or ior."""

from __future__ import annotations

from typing import Protocol

from pegasus_bb.bench.plan import Cell


class TimeIsUp(Exception):
    """A phase was not at its end in time; nothing is known of it."""


class Engine(Protocol):
    """Does one phase of a cell in an empty folder, with all processes at once.

    A phase lasts from the moment when the first process opens its file to that when the
    last one has closed it. Neither phase is repeated, and ``until`` is a time of
    time.monotonic(). Raises TimeIsUp; NotMeasured with the process that failed.
    """

    def write(self, cell: Cell, folder: str, until: float) -> float:
        """Seconds for writing. With mode fsync the data is on the storage by then."""

    def read(self, cell: Cell, folder: str, until: float) -> float:
        """Seconds for reading what write has written."""

    def close(self) -> None:
        """End every process that was started. Twice is fine."""
