"""Applies events of the journal to the table of nodes, and reports them."""

from __future__ import annotations

import time
from collections.abc import Callable

from pegasus_bb.model.dag.blahp import is_released
from pegasus_bb.model.dag.nodes import Script
from pegasus_bb.run.engine.dagman.job_ends import SlurmEnds
from pegasus_bb.run.engine.evidence import refused_submission, stage_out_log
from pegasus_bb.run.engine.failure_messages import (
    RESULTS_LEFT,
    recorded_failure,
    why_script,
)
from pegasus_bb.run.engine.jobstate_log import Event, ended
from pegasus_bb.run.engine.node_progress import Watcher
from pegasus_bb.run.engine.node_table import NodeEntry, NodeState, NodeTable
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.programs.gate import waiting_reason

_REMEMBERED = 600.0  # seconds: twice the MinJobAge that Slurm has by default


class Replay:
    """Follows a DAGMan by its journal; ``held`` returns why a job is held."""

    def __init__(
        self,
        table: NodeTable,
        place: SubmitDir,
        watcher: Watcher,
        held: Callable[[int], str | None],
    ) -> None:
        self._table = table
        self._place = place
        self._watcher = watcher
        self._held = held
        self._ends = SlurmEnds(place)
        self._deferring: dict[str, NodeEntry] = {}  # nodes whose PRE script may defer
        self._refused: set[str] = set()  # nodes that HTCondor has not taken last
        self._reason = ""  # of the gate, as it was told last
        self._warned: set[tuple[str, str]] = set()  # held nodes, reasons
        self._handlers = {
            "PRE_SCRIPT_STARTED": self._pre_started,
            "PRE_SCRIPT_SUCCESS": self._pre_ended,
            "PRE_SCRIPT_FAILURE": self._pre_failed,
            "SUBMIT": self._submitted,
            "SUBMIT_FAILURE": self._not_submitted,
            "EXECUTE": self._executes,
            "JOB_SUCCESS": self._job_ended,
            "JOB_FAILURE": self._job_ended,
            "POST_SCRIPT_SUCCESS": self._done,
            "POST_SCRIPT_FAILURE": self._post_failed,
            "JOB_HELD": self._job_held,
        }

    def apply(self, event: Event) -> None:
        """Apply one event. Events that DAGMan repeats after a recovery change
        nothing."""
        item = self._table.items.get(event.node)
        act = self._handlers.get(event.event)
        if (
            item is None
            or act is None
            or item.state in (NodeState.DONE, NodeState.FAILED)
        ):
            return
        act(item, event)

    def tick(self) -> None:
        """Report gates that wait: DAGMan logs a deferred script only when something
        else happens."""
        reason = waiting_reason(self._place.bb_dir)
        if self._place.bb.is_dir() and reason is None:
            return
        for item in self._deferring.values():
            self._defer(item, reason or "")

    def _pre_started(self, item: NodeEntry, event: Event) -> None:
        asks_again = item.state in (NodeState.RUNNING, NodeState.DEFERRED)
        if asks_again and item.sequence == event.sequence:
            self._defer(item)
            return
        self._mark_running(item, event)
        if item.node.pre is not None and item.node.pre.defer_status is not None:
            self._deferring[item.node.name] = item

    def _defer(self, item: NodeEntry, reason: str = "") -> None:
        if item.state is not NodeState.DEFERRED or reason not in ("", self._reason):
            self._table.move(item, NodeState.DEFERRED)
            self._watcher.waiting(item.node.name)
        self._reason = reason or self._reason

    def _pre_ended(self, item: NodeEntry, event: Event) -> None:
        self._deferring.pop(item.node.name, None)

    def _mark_running(self, item: NodeEntry, event: Event) -> None:
        if item.sequence != event.sequence:
            item.sequence = event.sequence
            item.began = event.time
        item.status = 0
        item.reason = ""
        self._table.move(item, NodeState.RUNNING)
        self._watcher.running(item.node.name)

    def _submitted(self, item: NodeEntry, event: Event) -> None:
        self._mark_running(item, event)
        self._refused.discard(item.node.name)
        item.queued = event.time

    def _not_submitted(self, item: NodeEntry, event: Event) -> None:
        self._refused.add(item.node.name)

    def _executes(self, item: NodeEntry, event: Event) -> None:
        item.queued = 0.0

    def _pre_failed(self, item: NodeEntry, event: Event) -> None:
        self._pre_ended(item, event)
        if item.node.pre_skip is not None:
            return  # its status is not in the journal; the rescue file tells
        item.stage = "pre"
        self._failed(item, event, _script(item.node.pre, "PRE"))

    def _job_ended(self, item: NodeEntry, event: Event) -> None:
        item.status = int(event.detail) if event.detail.lstrip("-").isdigit() else 0
        item.stage = "job"
        if item.node.post is not None:
            return
        if event.event == "JOB_SUCCESS":
            self._done(item, event)
        else:
            self._failed(item, event, f"its job {ended(item.status)}")

    def _post_failed(self, item: NodeEntry, event: Event) -> None:
        post = item.node.post
        item.stage = "post"
        if stage_out_log(item.node, self._place).is_file():
            self._failed(item, event, RESULTS_LEFT)
            return
        if post is not None and item.status:
            self._failed(item, event, why_script(item, "post", post, 1))
            return
        # A grid job's status is always 0; its Kickstart record has the real one.
        found = recorded_failure(item, self._place.path)
        item.status = 1 if found else 0
        self._failed(item, event, found or _script(post, "POST"))

    def _done(self, item: NodeEntry, event: Event) -> None:
        self._table.done(item)
        self._watcher.ended(item.node.name, "done", event.time - item.began)

    def _failed(self, item: NodeEntry, event: Event, why: str) -> None:
        seconds = event.time - (item.began or event.time)  # perhaps never submitted
        node = item.node
        if node.name in self._refused:
            why = refused_submission(node, self._place) or why
        item.reason = why
        if item.retries >= node.retry or item.status == node.unless_exit:
            self._table.failed(item)
            self._watcher.ended(node.name, f"failed: {why}", seconds)
            return
        item.retries += 1
        self._table.move(item, NodeState.READY)
        by_slurm = "" if item.stage == "pre" else self._slurm_end(node.name, event)
        more = f"; {by_slurm}" if by_slurm else ""
        self._watcher.ended(node.name, f"failed, tried again: {why}{more}", seconds)

    def _slurm_end(self, node: str, event: Event) -> str:
        """Of a job that ended just now: Slurm soon forgets it."""
        if time.time() - event.time > _REMEMBERED:
            return ""
        return self._ends.why(node)

    def _job_held(self, item: NodeEntry, event: Event) -> None:
        number = event.detail.partition(".")[0]
        why = self._held(int(number)) if number.isdigit() else None
        # Either it is not held any more, or the user knows it.
        if not why or (item.node.name, why) in self._warned:
            return
        self._warned.add((item.node.name, why))
        then = f"once that is mended: condor_release {number}"
        if is_released(why):
            then = f"HTCondor releases it soon; or now: condor_release {number}"
        self._watcher.warn(f"{item.node.name} is held: {why}; {then}")


def _script(script: Script | None, kind: str) -> str:
    name = f" {script.executable}" if script is not None else ""
    return f"its {kind} script{name} failed"
