"""Is the reservation still there? Slurm keeps jobs whose buffer is gone, for ever."""

from __future__ import annotations

import time

from pegasus_bb.dag.roles import Role, of_role
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.engine.table import State, Table
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.model.reservation import State as Reserved
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.storage_decision import may_use_pfs, on_the_pfs

_EVERY = 6  # polls of the gate, which asks no more once the reservation is up
_TIMES = 3  # that it must be missing, one after the other


class ReservationWatch:
    """Asks now and then, between the gate's answer and bb_delete."""

    def __init__(self, place: SubmitDir, table: Table) -> None:
        self._bb, self._table = BBDir(str(place.bb)), table
        self._deletes = of_role(table.items, Role.BB_DELETE)
        self._next = 0.0
        self._missed = 0

    def gone(self) -> str:
        """Why the run cannot go on, in words; empty while it can, or nobody knows."""
        if time.monotonic() < self._next or not self._bb.has_request:
            return ""
        try:
            request, noted = self._bb.request(), self._bb.reservation()
            self._next = time.monotonic() + _EVERY * request.poll
            if noted is None or noted.released_at is not None or self._ending():
                return ""
            if not reservation_identity.was_ready(self._bb, noted):
                return ""  # the gate's to judge
            if on_the_pfs(self._bb, request):
                return ""
            found = reservation_identity.status(self._bb, noted)
        except PegasusBBError:
            return ""  # says nothing about the reservation
        missing = found.state in (Reserved.ABSENT, Reserved.GONE)
        self._missed = self._missed + 1 if missing else 0
        if self._missed < _TIMES or self._ending():
            return ""
        words = f"reservation {request.name} was up and is not there any more"
        if may_use_pfs(self._bb, request):
            return f"{words}. No job had it yet: the next run goes on on the PFS"
        return words

    def _ending(self) -> bool:
        """Whether bb_delete is at work, or was."""
        waits = (State.WAITING, State.FUTILE)
        return any(self._table.items[name].state not in waits for name in self._deletes)
