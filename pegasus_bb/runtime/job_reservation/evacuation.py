"""Saves what a failed or killed job has on its own reservation: declared checkpoints
first, then, where the user asks for it, the job's folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.units import format_size
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.job_reservation.checkpoint_drainer import draining
from pegasus_bb.runtime.job_reservation.checkpoints import (
    Checkpoint,
    checkpoints_of,
    folder_of_copies,
    save,
    state_of,
)
from pegasus_bb.runtime.job_reservation.planned import PlannedReservation
from pegasus_bb.runtime.job_reservation.space import Space
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.staging.items import stamp
from pegasus_bb.runtime.stop_signals import Say, StopSignals
from pegasus_bb.runtime.task import discard, tell


def run_and_save(
    bb: BBDir,
    reservation: PlannedReservation,
    space: Space,
    scratch: str,
    work: Callable[[], int],
) -> int:
    """The exit status of ``work``, the task and the way back of its results. If it
    fails, or a signal ends the job, its files are saved: on the PFS in ``scratch``, and
    in the submit directory. Raises what ``work`` raises."""
    plan = reservation.evacuation
    inputs = _Inputs(reservation, space) if plan.get("keep") else None
    copies = folder_of_copies(reservation, scratch)
    checkpoints = checkpoints_of(reservation, scratch, space.run)
    status = 1
    with StopSignals(plan["within"]) as signals:
        try:
            with draining(checkpoints, copies, plan.get("every", 0)):
                status = work()
            return status
        finally:
            if status:
                signals.saves = True
                save_checkpoints(signals, checkpoints, copies)
                if inputs:
                    _keep_folder(bb, reservation, space, scratch, inputs, signals)
            discard(copies)


def save_checkpoints(
    signals: StopSignals, checkpoints: Sequence[Checkpoint], copies: str
) -> None:
    """Save those that were written, the smallest first, and say so."""
    written = [each for each in checkpoints if os.path.exists(each.here)]
    written.sort(key=_size_of)
    if not written:
        return

    def work(say: Say) -> None:
        for each in written:
            say(_saved(each, copies))

    try:
        lines, why = signals.save(work)
    except OSError as error:  # no process can be started
        lines, why = [], str(error.strerror)
    for line in lines:
        tell(line)
    for each in written[len(lines) :]:
        tell(_not_saved(each, why))


def _size_of(checkpoint: Checkpoint) -> int:
    try:
        return state_of(checkpoint.here)[0]
    except OSError:  # why is said when it is saved
        return 0


def _saved(checkpoint: Checkpoint, copies: str) -> str:
    try:
        size = save(checkpoint, copies)
    except PegasusBBError as error:
        return _not_saved(checkpoint, str(error))
    except OSError as error:
        where = error.filename or checkpoint.home
        return _not_saved(checkpoint, f"{where}: {error.strerror}")
    how = "is there already" if size < 0 else f"{format_size(size)}, is saved"
    return f"checkpoint {checkpoint.lfn}: {how}: {checkpoint.home}"


def _not_saved(checkpoint: Checkpoint, why: str) -> str:
    older = "; an older one is there" if os.path.exists(checkpoint.home) else ""
    return f"checkpoint {checkpoint.lfn} is NOT SAVED: {why}{older}"


class _Inputs:
    """What the task finds, so that it can be told later what it has left alone."""

    def __init__(self, reservation: PlannedReservation, space: Space) -> None:
        self._run = space.run
        self._before = {lfn: self._look(lfn) for lfn in reservation.stage_in}

    def untouched(self) -> list[str]:
        """The files that are as they were: a time alone can be set back."""
        return [
            lfn
            for lfn, look in self._before.items()
            if look and look == self._look(lfn)
        ]

    def _look(self, lfn: str) -> tuple[int, ...]:
        """Empty for what is no file, or leads out of the folder."""
        try:
            found = os.stat(checked_path(self._run, lfn))
        except (PegasusBBError, OSError):
            return ()
        if not stat.S_ISREG(found.st_mode):
            return ()
        return (found.st_size, *stamp(found))


def _keep_folder(
    bb: BBDir,
    reservation: PlannedReservation,
    space: Space,
    scratch: str,
    found: _Inputs,
    signals: StopSignals,
) -> None:
    """Keep the folder, with links in the place of inputs that the task did not
    touch."""
    from pegasus_bb.runtime.failed_folder import FailedTry, keep

    inputs = {
        os.path.normpath(lfn): checked_path(scratch, lfn) for lfn in found.untouched()
    }
    failed = FailedTry(reservation.node, reservation.job, space.run, inputs)
    keep(bb, failed, signals)
