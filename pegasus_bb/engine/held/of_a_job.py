"""What one job of a run had to itself, and left behind when it was killed."""

from __future__ import annotations

from pegasus_bb import ledger
from pegasus_bb.engine.held.asked import Finder
from pegasus_bb.errors import UsageError
from pegasus_bb.runtime.orphan import discard_orphan

WHY = (
    "left by a job that was killed: nothing on it counts, for a node that is not done "
    "makes all its results again"
)


def drop(name: str) -> str:
    """Give it back; words for the user. The caller knows that nobody works on the run.

    Raises UsageError, ReservationFailed, SchedulerUnreachable.
    """
    known = [asked for asked in ledger.reservations() if asked.name == name]
    for asked in reversed(known):
        case = Finder().case(asked)
        if case.is_of_a_job and case.request is not None:
            return discard_orphan(case.request, asked.time, case.submit_dir)
    raise UsageError(f"{name} is no reservation of a job on this ledger")
