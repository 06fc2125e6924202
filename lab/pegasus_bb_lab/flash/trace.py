"""What a load does to a tier, in order: files grow by stripes, and are deleted.

A stripe is written to each device of the tier, so one device sees the same trace.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

AHEAD = 1.25  # a load goes on beyond the trace, so that its last files die as well


@dataclass(frozen=True, slots=True)
class Files:
    """Of each file, by its number; files are numbered as they are opened. ``opened``
    and ``deleted`` count the stripes that were written before."""

    user: array[int]
    workflow: array[int]
    level: array[int]  # of the last task that reads it
    opened: array[int]
    deleted: array[int]
    stripes: array[int]

    def __len__(self) -> int:
        return len(self.user)


@dataclass(frozen=True, slots=True)
class Trace:
    events: array[int]  # as `kernel.Kernel.replay` takes them
    files: Files
    peak: int  # the most live stripes


class Recorder:
    """Writes a trace of ``stripes`` stripes."""

    def __init__(self, stripes: int) -> None:
        self.written = self.live = self._peak = 0
        self._stripes = stripes
        self._end = -1  # events of the trace
        self._events = array("i")
        self._files = Files(*(array("i") for _ in range(6)))

    @property
    def is_done(self) -> bool:
        return self.written >= AHEAD * self._stripes

    def open(self, user: int, workflow: int, level: int) -> int:
        files = self._files
        files.user.append(user)
        files.workflow.append(workflow)
        files.level.append(level)
        files.opened.append(self.written)
        files.deleted.append(-1)
        files.stripes.append(0)
        return len(files) - 1

    def write(self, file: int) -> None:
        self._events.append(file)
        self._files.stripes[file] += 1
        self.written += 1
        self.live += 1
        if self.written == self._stripes:
            self._end = len(self._events)
        if self.live > self._peak and self._end < 0:
            self._peak = self.live

    def delete(self, file: int) -> None:
        self._events.append(-file - 1)
        self._files.deleted[file] = self.written
        self.live -= self._files.stripes[file]

    def trace(self) -> Trace:
        """Files that are still there die when the load ends."""
        files = self._files
        for file, deleted in enumerate(files.deleted):
            if deleted < 0:
                files.deleted[file] = self.written
        return Trace(self._events[: self._end], files, self._peak)
