"""The space of one job, on whatever tier it is, and on the PFS if that tier is full.

A job on the PFS is noted in bb/elsewhere/<node>.json, durably, before its task starts;
`pegasus-bb status` and `report` read the notes.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from typing import ContextManager, Dict, Iterator

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.files import write_json
from pegasus_bb.model.reservation import NODE_LOCAL, Request
from pegasus_bb.removal import remove
from pegasus_bb.runtime.bbdir import ELSEWHERE, BBDir
from pegasus_bb.runtime.job_reservation.disk import is_full, on_the_disk
from pegasus_bb.runtime.job_reservation.granted import TierFull, granted
from pegasus_bb.runtime.job_reservation.mounted import private, staged
from pegasus_bb.runtime.job_reservation.planned import (
    JobReservation,
    landing_of,
    own_request,
)
from pegasus_bb.runtime.job_reservation.space import WORK, Space, discard, fill

PATIENCE = 60.0  # seconds that a job with a share of another reservation waits


@contextlib.contextmanager
def opened(
    bb: BBDir, request: Request, reservation: JobReservation, environ: Dict[str, str]
) -> Iterator[Space]:
    """The space with all that the job reads in it; what was made for it goes after.

    Raises ReservationFailed, CopyFailed.
    """
    if request.backend == "datawarp":
        mounted = private if request.access == "private" else staged
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
    bb: BBDir, request: Request, reservation: JobReservation, environ: Dict[str, str]
) -> ContextManager[str]:
    """The folder to work in, on the tier.

    In mode hybrid a run waits for one reservation while it holds another. Two runs that
    do so can block each other for ever, so the job waits for a short time only.
    """
    if request.backend == NODE_LOCAL:
        name = f"{own_request(request, reservation).name}.{reservation.job}"
        return on_the_disk(request.settings, name, reservation.capacity, environ)
    patience = min(PATIENCE, request.wait) if bb.has_request else request.wait
    return granted(bb, request, reservation, patience)


def _is_tier_full(bb: BBDir, request: Request, error: Exception) -> bool:
    """Whether the job works on the PFS, because its tier is full."""
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
    """The folder to work in, beside the one where its results arrive."""
    base = landing_of(request.prefix, reservation.node, reservation.job) + WORK
    remove(base)  # of this very try, killed and started again
    try:
        yield base
    finally:
        discard(base)
