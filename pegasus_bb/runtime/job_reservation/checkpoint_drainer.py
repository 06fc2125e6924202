"""Saves checkpoints while their task runs, in a process beside it.

A checkpoint that has not changed between two looks is whole; a copy of one that changes
meanwhile is refused, and made later. Each file stands for itself.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.units import format_size
from pegasus_bb.runtime.fork_worker import fork_worker, kill
from pegasus_bb.runtime.job_reservation.checkpoints import (
    Checkpoint,
    State,
    save,
    state_of,
)
from pegasus_bb.runtime.task import tell

_LOOK = 5.0  # seconds between two looks, at most


@contextlib.contextmanager
def draining(
    checkpoints: Sequence[Checkpoint], copies: str, every: float
) -> Iterator[None]:
    """Save each of ``checkpoints`` every so many seconds in the block, if there are any
    and ``every`` is not 0. Raises OSError before the task."""
    if not (checkpoints and every):
        yield
        return
    pid = fork_worker(Drainer(checkpoints, copies, every).run)
    try:
        yield
    finally:
        kill(pid)  # a copy that it makes has no name yet


class Drainer:
    def __init__(
        self, checkpoints: Sequence[Checkpoint], copies: str, every: float
    ) -> None:
        self._checkpoints = checkpoints
        self._copies = copies
        self._every = every
        self._seen: dict[str, State] = {}  # at the last look
        self._saved: dict[str, State] = {}
        self._first = time.monotonic() + every
        self._due: dict[str, float] = {}  # not before; the first time: self._first
        self._said: set[str] = set()

    def run(self) -> None:
        """Look until it is killed."""
        while True:
            time.sleep(min(self._every, _LOOK))
            for each in self._checkpoints:
                with contextlib.suppress(OSError):  # none yet, or a loop of links
                    self.look(each)

    def look(self, checkpoint: Checkpoint) -> None:
        """Save it, if it is new, whole and due. Raises OSError."""
        lfn = checkpoint.lfn
        state = state_of(checkpoint.here)
        is_quiet = self._seen.get(lfn) == state
        self._seen[lfn] = state
        is_new = self._saved.get(lfn) != state
        if is_quiet and is_new and time.monotonic() >= self._due.get(lfn, self._first):
            self._due[lfn] = time.monotonic() + self._every
            self._save(checkpoint, state)

    def _save(self, checkpoint: Checkpoint, state: State) -> None:
        try:
            size = save(checkpoint, self._copies, trusts_time=True)
        except (PegasusBBError, OSError) as error:
            self._say(f"checkpoint {checkpoint.lfn} is not saved yet: {error}")
            return
        if size >= 0 and checkpoint.lfn not in self._saved:  # not each time
            tell(
                f"checkpoint {checkpoint.lfn}: {format_size(size)}, is saved while the "
                f"job runs: {checkpoint.home}"
            )
        self._saved[checkpoint.lfn] = state

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            tell(text)
