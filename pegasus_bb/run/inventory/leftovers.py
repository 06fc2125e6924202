"""What dead runs have left, and giving it back: pegasus-bb gc.

Only what is on this user's ledger, whose run is dead beyond doubt, and of which nothing
can be lost. Everything else is kept, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pegasus_bb.core import ledger
from pegasus_bb.core.errors import BUG, DONE, DataNotSafe, PegasusBBError, UsageError
from pegasus_bb.model.reservation import State
from pegasus_bb.run.engine.dagman.find import check_no_dagman
from pegasus_bb.run.engine.lock import lock_submit_dir
from pegasus_bb.run.engine.nothing_lost import why_nothing_lost
from pegasus_bb.run.engine.processes import left_over
from pegasus_bb.run.engine.submitdir import SubmitDir, find_submit_dir
from pegasus_bb.run.inventory import run_state as runs
from pegasus_bb.run.inventory.kept_spaces import drop_space, why_not_needed
from pegasus_bb.run.inventory.listing import list_reservations
from pegasus_bb.run.inventory.located import RunFinder, is_of_one_job
from pegasus_bb.run.inventory.run_state import ReservationRecord
from pegasus_bb.runtime.programs.delete import UNUSED, release
from pegasus_bb.runtime.release_steps import discard_orphan
from pegasus_bb.runtime.storage_decision import on_the_pfs

_OF_A_KILLED_JOB = (
    "left by a job that was killed: nothing on it counts, for a node that is not done "
    "makes all its results again"
)


@dataclass(frozen=True)
class Leftover:
    record: ReservationRecord
    goes: bool  # it would be given back; after ``give_back``: it was
    why: str  # also why not
    exit_code: int = DONE  # of giving back, where that failed


def leftovers() -> list[Leftover]:
    """Of each reservation, whether it would be given back. Changes nothing."""
    return [_judged(record) for record in list_reservations()]


def give_back(leftover: Leftover) -> Leftover:
    """Give back one that goes. The engine's lock keeps a run from beginning meanwhile,
    and what was true is asked again."""
    try:
        place = find_submit_dir(Path(leftover.record.submit_dir))
        with lock_submit_dir(place.lock):
            why = _given_back(place, leftover.record)
        return replace(leftover, why=why)
    except PegasusBBError as error:
        return replace(leftover, goes=False, why=str(error), exit_code=error.exit_code)
    except OSError as error:
        return replace(leftover, goes=False, why=str(error), exit_code=BUG)


def _given_back(place: SubmitDir, record: ReservationRecord) -> str:
    claim, why = _may_go(place, record)
    if record.job:
        drop_space(record)
        return why
    bb = place.bb_dir
    if is_of_one_job(bb, record.name):
        return discard_of_one_job(record.name)
    return release(bb, why_nothing_lost=claim)


def discard_of_one_job(name: str) -> str:
    """Give back what one job had to itself; a message for the user. The caller knows
    that the run stands still.

    Raises UsageError, ReservationFailed, SchedulerUnreachable.
    """
    known = [entry for entry in ledger.reservations() if entry.name == name]
    for entry in reversed(known):
        one = RunFinder().locate(entry)
        if one.is_of_one_job and one.request is not None:
            return discard_orphan(one.request, entry.time, one.submit_dir)
    raise UsageError(f"{name} is no reservation of a job on this ledger")


def check_not_running(place: SubmitDir) -> None:
    """Raises UsageError where DAGMan or tasks of a killed engine work on ``place``;
    SchedulerUnreachable and RunFailed where that is unknown. The caller holds the
    engine's lock, or only looks."""
    check_no_dagman(place)
    left = left_over(place.processes)
    if left:
        pids = " ".join(str(pid) for pid in left)
        raise UsageError(
            f"{place.path}: its engine was killed and left processes; stop them "
            f"first: kill {pids}"
        )


def _judged(record: ReservationRecord) -> Leftover:
    why = _in_doubt(record)
    if why:
        return Leftover(record, False, why)
    try:
        place = find_submit_dir(Path(record.submit_dir))
        return Leftover(record, True, _may_go(place, record)[1])
    except (PegasusBBError, OSError) as error:
        return Leftover(record, False, str(error))


def _in_doubt(record: ReservationRecord) -> str:
    """Why it is kept without looking further; empty where the run is dead."""
    if not record.on_ledger or record.ended or record.state == State.UNKNOWN.value:
        return record.message
    if record.run in (runs.DONE, runs.FAILED, runs.STOPPED, runs.DEAD):
        return ""
    if record.run == runs.AWAY:
        return record.run_words or "its submit directory is not here"
    reason = f": {record.run_words}" if record.run_words else ""
    return f"its run: {record.run}{reason}"


def _may_go(place: SubmitDir, record: ReservationRecord) -> tuple[str, str]:
    """What `release` takes for why_nothing_lost, and a message about the reservation.

    Raises where it is kept: DataNotSafe, ReservationFailed, SchedulerUnreachable, and
    UsageError where its run is alive.
    """
    check_not_running(place)
    if record.job:
        return "", why_not_needed(place, record)
    bb = place.bb_dir
    if is_of_one_job(bb, record.name):
        return "", _OF_A_KILLED_JOB
    if on_the_pfs(bb, bb.request()):
        return UNUSED, release(bb, why_nothing_lost=UNUSED, dry_run=True)
    try:
        message = release(bb, dry_run=True)
        if record.run != runs.DONE and not bb.placement().get("outputs"):
            raise DataNotSafe(
                "its run did not come to its end and promised no results: whether "
                "what is on it is still needed cannot be told"
            )
        return "", message
    except DataNotSafe:
        claim = why_nothing_lost(place)
        if not claim:
            raise
    return claim, release(bb, why_nothing_lost=claim, dry_run=True)
