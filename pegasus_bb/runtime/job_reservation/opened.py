"""The space of one job, on whatever tier it is, and on the PFS where that is full."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import ContextManager, Dict, Iterator

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.model.reservation import NODE_LOCAL, Request
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.job_reservation import elsewhere
from pegasus_bb.runtime.job_reservation.disk import is_full, on_the_disk
from pegasus_bb.runtime.job_reservation.granted import TierFull, granted
from pegasus_bb.runtime.job_reservation.mounted import private, staged
from pegasus_bb.runtime.job_reservation.planned import (
    JobReservation,
    landing_of,
    own_request,
)
from pegasus_bb.runtime.job_reservation.space import Space, filled

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
    with contextlib.ExitStack() as held:
        try:
            base = held.enter_context(_fast(bb, request, reservation, environ))
            space = filled(request, reservation, base, time.time())
        except (PegasusBBError, OSError) as error:
            if not _goes_elsewhere(bb, request, error):
                raise
            held.close()
            print(f"launch: {error}; this job works on the PFS", file=sys.stderr)
            elsewhere.note(bb, reservation.node, reservation.job, str(error))
            landing = landing_of(request.prefix, reservation.node, reservation.job)
            base = held.enter_context(elsewhere.folder(landing))
            space = filled(request, reservation, base, 0.0)
        yield space


def _fast(
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


def _goes_elsewhere(bb: BBDir, request: Request, error: Exception) -> bool:
    """Whether the job works on the PFS because the tier is full."""
    if request.backend == NODE_LOCAL:
        return is_full(error)
    return bb.has_request and isinstance(error, TierFull)
