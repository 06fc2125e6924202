"""What dead runs have left, and giving it back: pegasus-bb gc.

Only what is on this user's ledger, whose run is dead beyond doubt, and of which nothing
can be lost. Everything else is kept, and why is said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pegasus_bb.engine.dagman.find import check_alone
from pegasus_bb.engine.held import doing as runs
from pegasus_bb.engine.held import of_a_job
from pegasus_bb.engine.held.asked import is_of_a_job
from pegasus_bb.engine.held.holding import Holding
from pegasus_bb.engine.held.listing import holdings, is_unknown
from pegasus_bb.engine.held.nothing_lost import why_nothing_lost
from pegasus_bb.engine.held.spaces import drop, why_not_needed
from pegasus_bb.engine.lock import locked
from pegasus_bb.engine.processes import left_over
from pegasus_bb.engine.submitdir import SubmitDir, find_submit_dir
from pegasus_bb.errors import BUG, DONE, DataNotSafe, PegasusBBError, UsageError
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.delete import UNUSED, release, would_release
from pegasus_bb.runtime.storage_decision import on_the_pfs


@dataclass(frozen=True)
class Leftover:
    """A reservation, and what becomes of it."""

    holding: Holding
    goes: bool  # it would be given back; after ``give_back``: it was
    why: str  # in words, also why not
    exit_code: int = DONE  # of giving back, where that failed


def leftovers() -> list[Leftover]:
    """Of each that is held, whether it would be given back. Changes nothing."""
    return [_judged(holding) for holding in holdings()]


def give_back(leftover: Leftover) -> Leftover:
    """Give back one that goes. No run begins meanwhile; what was true is asked anew."""
    try:
        place = find_submit_dir(Path(leftover.holding.submit_dir))
        with locked(place.lock):
            if leftover.holding.job:
                why = _may_go(place, leftover.holding)[1]
                drop(leftover.holding)
                return replace(leftover, why=why)
            if is_of_a_job(BBDir(str(place.bb)), leftover.holding.name):
                _may_go(place, leftover.holding)
                return replace(leftover, why=of_a_job.drop(leftover.holding.name))
            claim = _may_go(place, leftover.holding)[0]
            words = release(BBDir(str(place.bb)), why_nothing_lost=claim)
        return replace(leftover, why=words)
    except PegasusBBError as error:
        return replace(leftover, goes=False, why=str(error), exit_code=error.exit_code)
    except OSError as error:
        return replace(leftover, goes=False, why=str(error), exit_code=BUG)


def _judged(holding: Holding) -> Leftover:
    why = _in_doubt(holding)
    if why:
        return Leftover(holding, False, why)
    try:
        place = find_submit_dir(Path(holding.submit_dir))
        return Leftover(holding, True, _may_go(place, holding)[1])
    except (PegasusBBError, OSError) as error:
        return Leftover(holding, False, str(error))


def _in_doubt(holding: Holding) -> str:
    """Why nobody looks further; empty where the run is dead."""
    if not holding.on_ledger or holding.ended or is_unknown(holding):
        return holding.message
    if holding.run in (runs.DONE, runs.FAILED, runs.DEAD):
        return ""
    words = f": {holding.run_words}" if holding.run_words else ""
    about = "its " if holding.run == runs.AWAY else "its run: "
    return f"{about}{holding.run}{words}"


def _may_go(place: SubmitDir, holding: Holding) -> tuple[str, str]:
    """Why nothing can be lost, where that is not because all results are safe; and what
    is true of it.

    Raises where it is kept: DataNotSafe, ReservationFailed, SchedulerUnreachable, and
    UsageError where its run is alive.
    """
    check_alone(place)
    left = left_over(place.processes)
    if left:
        raise UsageError(f"processes of its killed engine run on: {sorted(left)}")
    if holding.job:
        return "", why_not_needed(place, holding)
    bb = BBDir(str(place.bb))
    if is_of_a_job(bb, holding.name):
        return "", of_a_job.WHY
    if on_the_pfs(bb, bb.request()):
        return UNUSED, would_release(bb, UNUSED)
    try:
        words = would_release(bb)
        if holding.run != runs.DONE and not bb.placement().get("outputs"):
            raise DataNotSafe(
                "its run did not come to its end and promised no results: whether "
                "anybody needs what is on it cannot be told"
            )
        return "", words
    except DataNotSafe:
        claim = why_nothing_lost(place)
        if not claim:
            raise
    return claim, would_release(bb, claim)
