"""A job's share of a ``directory`` tier: requested, awaited and released."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Iterator

from pegasus_bb.errors import PegasusBBError, ReservationFailed
from pegasus_bb.model.reservation import Request, State
from pegasus_bb.removal import remove
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime import program
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.job_reservation.planned import JobReservation, own_request
from pegasus_bb.units import format_duration, format_size

_POLL = 1.0  # seconds between two polls of a tier that is full


class TierFull(ReservationFailed):
    """The tier works, but is full."""


@contextlib.contextmanager
def granted(
    bb: BBDir, request: Request, reservation: JobReservation, patience: float
) -> Iterator[str]:
    own = own_request(request, reservation)
    backend = open_backend(own.backend, own.settings)
    program.list_request(bb, own)
    try:
        backend.create(own)
    except ReservationFailed:
        program.list_event("refused", own, bb.submit_dir)
        raise
    try:
        _await(own, patience)
        base = backend.path(own, {})
        remove(os.path.join(base, "run"))  # of a try that was killed
        yield base
    finally:
        try:
            backend.delete(own)
            program.list_event("released", own, bb.submit_dir)
        except (PegasusBBError, OSError) as error:  # what it had is safe, or lost
            print(f"launch: {own.name} was not given back: {error}", file=sys.stderr)


def _await(own: Request, patience: float) -> None:
    backend = open_backend(own.backend, own.settings)
    until = time.monotonic() + patience
    while True:
        found = backend.status(own)
        if found.state is State.READY:
            return
        if found.state not in (State.PENDING, State.UNKNOWN, State.STAGING_IN):
            raise ReservationFailed(f"{own.name}: {found.state.value}: {found.message}")
        if time.monotonic() >= until:
            more = ""
            if patience == own.wait:
                more = "; pegasus.bb.wait says how long to wait"
            raise TierFull(
                f"no room of {format_size(own.capacity)} for this job within "
                f"{format_duration(patience)}: {found.message}{more}"
            )
        time.sleep(_POLL)
