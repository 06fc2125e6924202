"""Inputs that jobs which run later read as well: a task must not change its copy.

In a shared folder they would see the change, and here they read what was there before.
"""

from __future__ import annotations

import os

from pegasus_bb.core.units import abbreviate
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.job_reservation.planned import PlannedReservation
from pegasus_bb.runtime.job_reservation.space import Space
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.task import tell


class WatchedInputs:
    def __init__(self, request: Request, own: PlannedReservation, space: Space) -> None:
        """Before the task has started."""
        self._paths = {
            lfn: (space.path(lfn), checked_path(request.prefix, lfn))
            for lfn in own.watched
        }
        self._before = {lfn: _state(here) for lfn, (here, _) in self._paths.items()}

    def check(self, status: int) -> int:
        """The exit status of a job whose task has ended with ``status``: 1 if an input
        has other bytes than its file. Raises OSError."""
        changed = [] if status else list(filter(self._is_changed, self._paths))
        if not changed:
            return status
        tell(
            f"{abbreviate(changed)}: the task has changed its input in place, and jobs "
            "that read it later would not see that in mode transient. Mode persistent "
            "keeps the change for them; the pegasus profile `bb.inputs: copy` of the "
            "job or its transformation says that it is for this job alone"
        )
        return 1

    def _is_changed(self, lfn: str) -> bool:
        import filecmp  # few tasks have touched one

        here, there = self._paths[lfn]
        now = _state(here)
        if now == self._before[lfn] or now is None:  # or removed
            return False
        return not filecmp.cmp(here, there, shallow=False)


def _state(path: str) -> tuple[int, int] | None:
    """Of a regular file."""
    if not os.path.isfile(path):
        return None
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns
