"""Tells while a run goes on that it has written more than it has reserved.

A folder without quotas lets it, at the cost of other runs on the tier.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.units import format_size
from pegasus_bb.run.engine.tier_usage import bytes_below
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.bbdir import BBDir

_SHARE = 20  # of the time, one part is spent on looking
_LEAST = 1.0  # seconds between two looks
_LONGEST = 2.0  # seconds of one look


class OverUse:
    """Looks at the tier from time to time, and speaks once."""

    def __init__(self, submit_dir: Path | None) -> None:
        self._bb = BBDir(str(submit_dir / "bb")) if submit_dir else None
        self._next = 0.0

    def message(self) -> str:
        """Empty unless it is due, this machine sees the tier, and it holds too much."""
        began = time.monotonic()
        if self._bb is None or began < self._next:
            return ""
        message = _message(self._bb)
        took = time.monotonic() - began
        self._next = began + max(_LEAST, _SHARE * took)
        if message:
            self._bb = None
        return message


def _message(bb: BBDir) -> str:
    try:
        if not bb.has_request or bb.reservation() is None:
            return ""
        request = bb.request()
        path = open_backend(request.backend, request.settings).path(request, os.environ)
    except PegasusBBError:  # not up yet, given back, or not seen from here
        return ""
    used, _ = bytes_below(Path(path), _LONGEST)
    if used <= request.capacity:
        return ""
    return (
        f"MORE THAN RESERVED: {format_size(used)} of {format_size(request.capacity)} "
        f"are used on {request.name}, at the cost of other runs on this tier; next "
        "time plan with a larger --bb-capacity"
    )
