"""The storage that all jobs of a run share: where it is, as one job sees it."""

from __future__ import annotations

import os
from typing import Dict, Optional

from pegasus_bb.errors import ReservationFailed
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.bind import Binding


def shared_binding(bb: BBDir, environ: Dict[str, str]) -> Optional[Binding]:
    """The planned prefix and its real path; None where jobs share no reservation.

    Raises ReservationFailed, UsageError.
    """
    if not bb.has_request:
        return None
    request = bb.request()
    path = _path(bb, request, environ)
    if not os.path.isabs(path) or any(c < " " or c in "\"\\'" for c in path):
        raise ReservationFailed(
            f"reservation {request.name}: its path {path!r} cannot be used; it must be "
            "a full path without quotes, backslashes and control characters"
        )
    return Binding(request.prefix, path)


def _path(bb: BBDir, request: Request, environ: Dict[str, str]) -> str:
    from pegasus_bb.reservation.registry import open_backend

    backend = open_backend(request.backend, request.settings)
    if request.fallback == "fail":
        return backend.path(request, environ)
    from pegasus_bb.runtime.storage_decision import (
        PFS,
        TIER,
        StorageDecision,
        decide_storage,
        read_decision,
    )

    decision = read_decision(bb)
    if decision and decision.to == PFS:
        return decision.prefix
    path = backend.path(request, environ)
    # The reservation is there: from now on the run is on it, and no gate moves it.
    decision = decision or decide_storage(bb, StorageDecision(TIER))
    return decision.prefix if decision.to == PFS else path
