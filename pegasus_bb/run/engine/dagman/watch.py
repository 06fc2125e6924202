"""Finds what HTCondor does not see: a vanished reservation, whose jobs Slurm keeps for
ever, and jobs that Slurm cannot stage out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import read_json, write_text
from pegasus_bb.model.dag.roles import Role, of_role
from pegasus_bb.run.engine.dagman import queue
from pegasus_bb.run.engine.node_table import NodeState, NodeTable
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.backends.scontrol import SpaceJob
from pegasus_bb.runtime.backends.slurm import STAGE_OUT_FAILED, STAGES_OUT, Slurm
from pegasus_bb.runtime.backends.unstaged import unstaged_results
from pegasus_bb.runtime.job_reservation.results import NOTES, list_kept
from pegasus_bb.runtime.storage_decision import may_use_pfs, on_the_pfs

_POLLS = 6  # intervals of the gate, which stops once the reservation is ready
_MISSES = 3  # in a row before it counts as vanished
_MOST_JOBS = 20  # queried at a time, the oldest first
_AGAIN = "  the node: counts as failed; it can be tried again"
_OVER = (NodeState.DONE, NodeState.FAILED, NodeState.FUTILE)


class ReservationWatch:
    """Polls the reservation while jobs use it: from its gate to bb_delete."""

    def __init__(self, place: SubmitDir, table: NodeTable) -> None:
        self._bb = place.bb_dir
        self._table = table
        self._deletes = of_role(table.items, Role.BB_DELETE)
        self._next = 0.0
        self._missed = 0

    def gone(self) -> str:
        """Why the run cannot go on; empty while it can, or its state is unknown."""
        if time.monotonic() < self._next or not self._bb.has_request:
            return ""
        try:
            request = self._bb.request()
            noted = self._bb.reservation()
            self._next = time.monotonic() + _POLLS * request.poll
            if noted is None or noted.released_at is not None or self._ending():
                return ""
            if not reservation_identity.was_ready(self._bb, noted):
                return ""  # the gate decides
            if on_the_pfs(self._bb, request):
                return ""
            found = reservation_identity.status(self._bb, noted)
        except PegasusBBError:
            return ""  # its state is unknown
        self._missed = self._missed + 1 if found.state.is_missing else 0
        if self._missed < _MISSES or self._ending():
            return ""
        message = f"reservation {request.name} was up and is not there any more"
        if may_use_pfs(self._bb, request):
            return f"{message}. No job had it yet: the next run is on the PFS"
        return message

    def _ending(self) -> bool:
        waits = (NodeState.WAITING, NodeState.FUTILE)
        return any(self._table.items[name].state not in waits for name in self._deletes)


class StageOutWatch:
    """Polls Slurm for jobs that have ended and that HTCondor still has in its queue.

    Slurm keeps a job whose stage-out fails in its queue for ever, with its space and
    data. blahp does not know that state, so HTCondor never asks the POST script, which
    has the deadline. Such a job is taken out of HTCondor's queue; Slurm keeps the data.
    """

    def __init__(self, place: SubmitDir, table: NodeTable) -> None:
        self._bb = place.bb_dir
        self._table = table
        self._notes = Path(self._bb.file(NOTES))
        self._next = 0.0
        self._removed: set[str] = set()  # attempts, by HTCondor job

    def remove_failed(self) -> list[str]:
        """Remove jobs whose stage-out failed; returns a message for each."""
        if time.monotonic() < self._next or not self._notes.is_dir():
            return []
        try:
            request = self._bb.transient()
            self._next = time.monotonic() + _POLLS * request.poll
            slurm = Slurm(request.settings)
            old = sorted(self._ended(_POLLS * request.poll), key=lambda n: n["time"])
            messages = (
                self._check(slurm, note, request.wait) for note in old[:_MOST_JOBS]
            )
            return [message for message in messages if message]
        except PegasusBBError:
            return []  # without an answer their state is unknown

    def _ended(self, age: float) -> Iterator[dict[str, Any]]:
        """Notes, older than ``age``, of the last attempts of unfinished nodes."""
        for name, item in self._table.items.items():
            file = self._notes / f"{name}.json"
            if item.state in _OVER or not file.exists():
                continue
            try:
                note = dict(read_json(str(file)))
                old = time.time() - note["time"] > age
                if old and note["slurm"] and note["job"] not in self._removed:
                    yield note
            except (OSError, ValueError, TypeError, KeyError):
                continue

    def _check(self, slurm: Slurm, note: dict[str, Any], wait: int) -> str:
        job = slurm.job(note["slurm"])
        if job is None or job.native != STAGES_OUT:
            return ""
        late = time.time() - note["time"] > wait
        if STAGE_OUT_FAILED not in job.message and not late:
            return ""
        return self._remove(note, job)

    def _remove(self, note: dict[str, Any], job: SpaceJob) -> str:
        kept = unstaged_results(self._bb.transient().backend)
        message = (
            f"{note['node']}: Slurm does not get its results off the reservation: "
            f"{job.message}\n{kept.advice(note['slurm'], note['source'])}\n{_AGAIN}"
        )
        write_text(str(self._notes / f"{note['node']}.err"), f"{message}\n")
        list_kept(self._bb, note["node"], note["slurm"])
        self._removed.add(note["job"])
        queue.remove(int(str(note["job"]).partition(".")[0]))
        return message
