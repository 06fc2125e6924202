"""Opens the space of one job on its tier, or on the PFS if the tier is full.

A job on the PFS is noted in bb/elsewhere/<node>.json, durably, before its task starts;
`pegasus-bb status` and `report` read the notes.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager

from pegasus_bb.core.errors import PegasusBBError, ReservationFailed
from pegasus_bb.core.files import write_json
from pegasus_bb.core.removal import remove
from pegasus_bb.core.units import format_duration, format_size
from pegasus_bb.model.reservation import NODE_LOCAL, SLURM_BACKENDS, Request, State
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.bbdir import ELSEWHERE, BBDir
from pegasus_bb.runtime.job_reservation.disk import TierFull, is_full, on_the_disk
from pegasus_bb.runtime.job_reservation.mounted import private_space, staged_space
from pegasus_bb.runtime.job_reservation.planned import (
    JobReservation,
    landing_of,
    own_request,
)
from pegasus_bb.runtime.job_reservation.space import WORK, Space, discard, fill
from pegasus_bb.runtime.programs import program

PATIENCE = 60.0  # seconds that a job waits while its run holds another reservation
_POLL = 1.0  # seconds between two polls of a tier that is full


@contextlib.contextmanager
def open_space(
    bb: BBDir, request: Request, reservation: JobReservation, environ: dict[str, str]
) -> Iterator[Space]:
    """The space with the inputs of the job in it, removed afterwards.

    Raises ReservationFailed, CopyFailed.
    """
    if request.backend in SLURM_BACKENDS:
        mounted = private_space if request.access == "private" else staged_space
        yield mounted(request, reservation, environ)
        return
    with contextlib.ExitStack() as stack:
        try:
            base = stack.enter_context(_on_tier(bb, request, reservation, environ))
            space = fill(request, reservation, base, time.time())
        except (PegasusBBError, OSError) as error:
            if not _is_tier_full(bb, request, error):
                raise
            stack.close()
            print(f"launch: {error}; this job works on the PFS", file=sys.stderr)
            _note_elsewhere(bb, reservation, str(error))
            base = stack.enter_context(_on_pfs(request, reservation))
            space = fill(request, reservation, base, 0.0)
        yield space


def _on_tier(
    bb: BBDir, request: Request, reservation: JobReservation, environ: dict[str, str]
) -> AbstractContextManager[str]:
    """The folder to work in, on the tier.

    In mode hybrid a run waits for one reservation while it holds another. Two runs that
    do so can block each other for ever, so the job waits for a short time only.
    """
    if request.backend == NODE_LOCAL:
        name = f"{own_request(request, reservation).name}.{reservation.job}"
        return on_the_disk(request.settings, name, reservation.capacity, environ)
    patience = min(PATIENCE, request.wait) if bb.has_request else request.wait
    return _granted(bb, request, reservation, patience)


def _is_tier_full(bb: BBDir, request: Request, error: Exception) -> bool:
    if request.backend == NODE_LOCAL:
        return is_full(error)
    return bb.has_request and isinstance(error, TierFull)


def _note_elsewhere(bb: BBDir, reservation: JobReservation, because: str) -> None:
    """Note that this try works on the PFS. Raises OSError; the job then fails."""
    os.makedirs(bb.file(ELSEWHERE), exist_ok=True)
    note = {
        "version": 1,
        "node": reservation.node,
        "job": reservation.job,
        "because": because,
        "host": socket.gethostname(),
        "time": time.time(),
    }
    write_json(bb.file(f"{ELSEWHERE}/{reservation.node}.json"), note)


@contextlib.contextmanager
def _on_pfs(request: Request, reservation: JobReservation) -> Iterator[str]:
    """The folder to work in, next to the one where the results arrive."""
    base = landing_of(request.prefix, reservation.node, reservation.job) + WORK
    remove(base)  # of this try before it was killed and restarted
    try:
        yield base
    finally:
        discard(base)


@contextlib.contextmanager
def _granted(
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
        remove(os.path.join(base, "run"))  # of a killed try
        yield base
    finally:
        try:
            backend.delete(own)
            program.list_event("released", own, bb.submit_dir)
        except (PegasusBBError, OSError) as error:  # its data is safe, or lost
            print(f"launch: {own.name} was not given back: {error}", file=sys.stderr)


def _await(own: Request, patience: float) -> None:
    backend = open_backend(own.backend, own.settings)
    until = time.monotonic() + patience
    while True:
        backend.settle()
        status = backend.status(own)
        if status.state is State.READY:
            return
        if status.state not in (State.PENDING, State.UNKNOWN, State.STAGING_IN):
            message = f"{status.state.value}: {status.message}"
            raise ReservationFailed(f"{own.name}: {message}")
        if time.monotonic() >= until:
            more = ""
            if patience == own.wait:
                more = "; pegasus.bb.wait says how long to wait"
            raise TierFull(
                f"no room of {format_size(own.capacity)} for this job within "
                f"{format_duration(patience)}: {status.message}{more}"
            )
        time.sleep(_POLL)
