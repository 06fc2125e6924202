"""Runs the nodes of a table: PRE, job, POST, retries; one loop, no threads.

Events come in one at a time (a process has ended, a timer is due, a signal came), and
each costs the same however many nodes there are.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from heapq import heappop, heappush
from pathlib import Path

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.dag.roles import Role, role_of
from pegasus_bb.run.engine.children import Child, Children, Signals
from pegasus_bb.run.engine.jobstate_log import JobstateLog, ended
from pegasus_bb.run.engine.node_progress import Watcher
from pegasus_bb.run.engine.node_table import NodeEntry, NodeState, NodeTable
from pegasus_bb.run.engine.starter import CannotStart, Starter, script_of, submit_file

# DAGMan's limits (DAGMAN_MAX_PRE_SCRIPTS etc.); a deferred script does not count.
SCRIPTS = 20
Entry = tuple[
    int, int, NodeEntry
]  # the higher priority first, then the order of the file
# Jobs of universe local take no slot; this limit protects the machine from them.
LOCAL_JOBS = 20


class Scheduler:
    """One run of a table. ``run`` returns when nothing more can be done."""

    def __init__(
        self,
        table: NodeTable,
        submit_dir: Path,
        *,
        slots: int,
        limits: Mapping[str, int],
        sequence: int,
        journal: JobstateLog,
        children: Children,
        signals: Signals,
        watcher: Watcher,
    ) -> None:
        self.abort: int | None = None  # ABORT-DAG-ON: the status to answer with
        self._table = table
        self._dir = submit_dir
        self._journal = journal
        self._children = children
        self._signals = signals
        self._watcher = watcher
        self._starter = Starter(table, submit_dir, children)
        self._jobs = Queues(slots, limits)
        self._is_paced = (submit_dir / "bb" / "drain.json").exists()
        self._sequence = sequence
        self._todo: deque[NodeEntry] = deque(table.free())
        self._scripts: deque[tuple[NodeEntry, str]] = deque()
        self._scripts_free = min(SCRIPTS, 2 * slots + 2)
        self._timers: list[tuple[float, int, NodeEntry, str]] = []

    def run(self, grace: float) -> None:
        """Run all nodes that can run, or until a signal or an abort."""
        while not self._stopped():
            self._start_ready()
            if self._stopped() or not (self._children or self._timers):
                break
            self._journal.flush()
            for child, status in self._children.wait(self._until_timer()):
                self._child_ended(child, status)
            self._signals.drain()
            self._due_timers()
        if self._children:
            self._stop(grace)
        self._journal.flush()

    def _stopped(self) -> bool:
        return bool(self._signals.received) or self.abort is not None

    # --- starting ---

    def _start_ready(self) -> None:
        while True:
            while self._todo and not self._stopped():
                self._begin_node(self._todo.popleft())
            self._start_scripts()
            self._start_jobs()
            more = self._todo or (self._scripts and self._scripts_free)
            if not more or self._stopped():
                return

    def _begin_node(self, item: NodeEntry) -> None:
        self._sequence += 1
        item.sequence = self._sequence
        item.began = time.monotonic()
        self._table.move(item, NodeState.READY)
        if item.node.pre is None:
            self._queue_job(item)
            return
        try:
            item.site = submit_file(item, self._dir).attributes.get("pegasus_site", "")
        except CatalogError:
            pass  # the PRE script may be about to write it
        self._scripts.append((item, "pre"))

    def _queue_job(self, item: NodeEntry) -> None:
        if item.node.noop:
            self._note(item, "SUBMIT", f"{item.sequence}.0")
            self._job_ended(item, 0)
            return
        try:
            job = submit_file(item, self._dir)
        except CatalogError as error:
            self._not_started(item, CannotStart(str(error)))
            return
        item.site = job.attributes.get("pegasus_site", "")
        item.local = job.universe in ("local", "scheduler") or self._takes_no_slot(item)
        self._table.move(item, NodeState.READY)
        self._jobs.push(item)

    def _takes_no_slot(self, item: NodeEntry) -> bool:
        """Whether it stages out at a limited rate and so must not block a slot."""
        return self._is_paced and role_of(item.node.name) is Role.STAGE_OUT

    def _start_jobs(self) -> None:
        while not self._stopped() and (item := self._jobs.pop()) is not None:
            self._journal.flush()
            try:
                self._starter.job(item)
            except CannotStart as error:
                self._jobs.ended(item)
                self._not_started(item, error)
                continue
            item.began = time.monotonic()  # what it waited for a slot does not count
            self._table.move(item, NodeState.RUNNING)
            self._note(item, "SUBMIT", f"{item.sequence}.0")
            self._note(item, "EXECUTE", f"{item.sequence}.0")
            self._journal.flush()
            self._watcher.running(item.node.name)

    def _not_started(self, item: NodeEntry, error: CannotStart) -> None:
        item.reason = str(error)
        self._note(item, "SUBMIT", f"{item.sequence}.0")
        self._job_ended(item, error.status)

    def _start_scripts(self) -> None:
        while self._scripts and self._scripts_free and not self._stopped():
            item, kind = self._scripts.popleft()
            self._journal.flush()
            again = item.state is NodeState.DEFERRED
            self._table.move(item, NodeState.RUNNING)
            if not again:
                self._note(item, f"{kind.upper()}_SCRIPT_STARTED", _id(item, kind))
            try:
                status = self._starter.script(item, kind)
            except CannotStart as error:
                item.reason = str(error)
                status = error.status
            if status is not None:
                self._script_ended(item, kind, status)
                continue
            self._scripts_free -= 1
            self._watcher.running(item.node.name)

    # --- ending ---

    def _child_ended(self, child: Child, status: int) -> None:
        item: NodeEntry = child.owner
        if child.kind == "job":
            self._jobs.ended(item)
            self._job_ended(item, status)
            return
        self._scripts_free += 1
        self._starter.keep_output(child, status)
        self._script_ended(item, child.kind, status)

    def _job_ended(self, item: NodeEntry, status: int) -> None:
        item.status = status
        item.stage = "job"
        self._note(item, "JOB_TERMINATED", f"{item.sequence}.0")
        self._note(item, "JOB_FAILURE" if status else "JOB_SUCCESS", str(status))
        if item.node.post is not None:
            self._table.move(item, NodeState.READY)
            self._scripts.append((item, "post"))
        else:
            self._node_ended(item, status, f"the job {ended(status)}")

    def _script_ended(self, item: NodeEntry, kind: str, status: int) -> None:
        script = script_of(item, kind)
        if status == script.defer_status:  # a signal is negative, so never that
            self._table.move(item, NodeState.DEFERRED)
            due = time.monotonic() + (script.defer_time or 0)
            heappush(self._timers, (due, item.order, item, kind))
            self._watcher.waiting(item.node.name)
            return
        name = f"{kind.upper()}_SCRIPT"
        item.stage = kind
        self._note(item, f"{name}_TERMINATED", _id(item, kind))
        self._note(item, f"{name}_{'FAILURE' if status else 'SUCCESS'}", str(status))
        if kind == "pre":
            item.pre_status = status
            if status == 0:
                self._queue_job(item)
                return
            if status == item.node.pre_skip:
                status = 0
        why = ""
        if status:  # a run that goes well does not load the messages
            from pegasus_bb.run.engine.failure_messages import why_script

            why = why_script(item, kind, script, status)
        self._node_ended(item, status, why)

    def _node_ended(self, item: NodeEntry, status: int, why: str) -> None:
        """End the whole node; like DAGMan, check for an abort before a retry."""
        node = item.node
        if node.abort_on is not None and status == node.abort_on[0]:
            self.abort = status if node.abort_on[1] is None else node.abort_on[1]
        seconds = time.monotonic() - item.began
        if status == 0:
            self._todo.extend(self._table.done(item))
            self._watcher.ended(node.name, "done", seconds)
            return
        item.reason = f"{why}; {item.reason}" if item.reason else why
        last = item.retries >= node.retry or status == node.unless_exit
        if last or self.abort is not None:
            self._table.failed(item)
            self._watcher.ended(node.name, f"failed: {item.reason}", seconds)
            return
        self._watcher.ended(node.name, f"failed, tried again: {item.reason}", seconds)
        item.retries += 1
        item.reason = ""
        self._todo.append(item)

    def _stop(self, grace: float) -> None:
        """End all processes. A job that has just succeeded counts as done."""
        before = len(self._signals.received)
        ended = self._children.stop(grace, lambda: len(self._signals.received) > before)
        for child, status in ended:
            item: NodeEntry = child.owner
            if child.kind == "job" and status == 0:
                self._job_ended(item, 0)
            elif child.kind == "job":
                self._note(item, "JOB_ABORTED", f"{item.sequence}.0")
            else:
                event = f"{child.kind.upper()}_SCRIPT_FAILURE"
                self._note(item, event, str(status or -15))

    # --- time ---

    def _until_timer(self) -> float | None:
        if not self._timers:
            return None
        return max(0.0, self._timers[0][0] - time.monotonic())

    def _due_timers(self) -> None:
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            _, _, item, kind = heappop(self._timers)
            self._scripts.append((item, kind))

    def _note(self, item: NodeEntry, event: str, detail: str) -> None:
        self._journal.note(item.node.name, event, detail, item.site, item.sequence)


def _id(item: NodeEntry, kind: str) -> str:
    return f"{item.sequence}.0" if kind == "post" else "-"


class Queues:
    """Jobs that are ready. A job beyond its category's limit waits in the category's
    own heap, so that no job is examined twice."""

    def __init__(self, slots: int, limits: Mapping[str, int]) -> None:
        self._slots = {False: slots, True: LOCAL_JOBS}  # by: is a local job
        self._ready: dict[bool, list[Entry]] = {False: [], True: []}
        self._limits = limits
        self._used: dict[str, int] = {}
        self._held: dict[str, list[Entry]] = {}

    def push(self, item: NodeEntry) -> None:
        self._admit((-item.node.priority, item.order, item))

    def pop(self) -> NodeEntry | None:
        """The job to start now, or None; ``ended`` must be called for it later."""
        for local, heap in self._ready.items():
            if heap and self._slots[local]:
                self._slots[local] -= 1
                return heappop(heap)[2]
        return None

    def ended(self, item: NodeEntry) -> None:
        """Free the slot and the category's place of the job of ``item``, which
        ended."""
        self._slots[item.local] += 1
        category = item.node.category
        if category in self._limits:
            self._used[category] -= 1
            if self._held.get(category):
                self._admit(heappop(self._held[category]))

    def _admit(self, entry: Entry) -> None:
        item = entry[2]
        category = item.node.category
        if category in self._limits:
            used = self._used.get(category, 0)
            if used >= self._limits[category]:
                heappush(self._held.setdefault(category, []), entry)
                return
            self._used[category] = used + 1
        heappush(self._ready[item.local], entry)
