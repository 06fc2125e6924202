"""Where a job works, with all that it reads in it."""

from __future__ import annotations

import os
from typing import NamedTuple

from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.job_reservation import elsewhere
from pegasus_bb.runtime.job_reservation.planned import JobReservation, landing_of
from pegasus_bb.runtime.links import checked_path
from pegasus_bb.staging.folder import copy_path


class Space(NamedTuple):
    """Where a job works, and where it puts what is to come back."""

    run: str  # stands for the run's scratch
    results: str  # of this try
    by_system: bool  # the batch system stages; else launch does
    since: float = 0.0  # when it had the reservation; 0 where it works on the PFS


def filled(
    request: Request, reservation: JobReservation, base: str, since: float
) -> Space:
    """With all that is brought there. Raises CopyFailed."""
    results = landing_of(request.prefix, reservation.node, reservation.job)
    elsewhere.discard_older(results)
    space = Space(os.path.join(base, "run"), results, False, since)
    make_folders(reservation, space)
    for lfn in reservation.stage_in:
        source = checked_path(request.prefix, lfn)
        copy_path(source, checked_path(space.run, lfn), digest=False)
    return space


def make_folders(reservation: JobReservation, space: Space) -> None:
    os.makedirs(space.run, exist_ok=True)
    for folder in {os.path.dirname(lfn) for lfn in reservation.lfns if "/" in lfn}:
        os.makedirs(checked_path(space.run, folder), exist_ok=True)
