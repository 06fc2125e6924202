"""The interface of what measures: our own processes, or ior."""

from __future__ import annotations

from typing import Protocol

from pegasus_bb.bench.plan import Cell


class TimeIsUp(Exception):
    """A phase did not end in time; it gives no figure."""


class Engine(Protocol):
    """Runs one phase of a cell in an empty folder, with all processes at once.

    A phase lasts from the first open to the last close. ``until`` is a time of
    time.monotonic(). Raises TimeIsUp, and NotMeasured with the process that failed.
    """

    name: str  # own | ior VERSION
    because: str  # why this one measures

    def write(self, cell: Cell, folder: str, until: float) -> float:
        """Seconds for writing, until the data is on the storage."""

    def read(self, cell: Cell, folder: str, until: float) -> float:
        """Seconds for reading what ``write`` has written."""

    def close(self) -> None:
        """End all processes. A second call does nothing."""
