"""Runs the DAG of a submit directory on this machine, as DAGMan would."""

from __future__ import annotations

import contextlib
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.core.errors import INTERRUPTED, RunFailed, RunInterrupted
from pegasus_bb.core.files import write_json
from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.run.engine.children import Children, Signals
from pegasus_bb.run.engine.jobstate_log import JobstateLog
from pegasus_bb.run.engine.lock import lock_submit_dir
from pegasus_bb.run.engine.lost_inputs import Ask, refuse
from pegasus_bb.run.engine.node_progress import Watcher
from pegasus_bb.run.engine.node_table import NodeState, NodeTable
from pegasus_bb.run.engine.preparation import (
    Preparation,
    check_place,
    check_results_place,
    check_runnable,
    prepare,
)
from pegasus_bb.run.engine.processes import Processes
from pegasus_bb.run.engine.rescue import write_rescue
from pegasus_bb.run.engine.scheduler import Scheduler
from pegasus_bb.run.engine.submitdir import SubmitDir, find_submit_dir

LOAD = "load.json"


def note_load(place: SubmitDir) -> None:
    """Write the load averages over 1, 5 and 15 minutes, and the processors."""
    if not place.bb.is_dir():
        return
    load = [round(value, 2) for value in os.getloadavg()]
    cores = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError):  # a full disk stops the run in its own words
        write_json(str(place.bb / LOAD), {"load": load, "cores": cores})


# Seconds between SIGTERM and SIGKILL when a run is stopped; more if jobs save files.
GRACE = 10.0


@dataclass(frozen=True)
class RunOutcome:
    """A run that succeeded, or that ABORT-DAG-ON ended with status 0."""

    total: int
    done: int  # nodes that are done now; fewer than all where the DAG ended itself
    done_before: int  # nodes that an earlier run had done
    seconds: float
    moved: tuple[Path, ...] = ()  # files that --restart moved away
    rescue: Path | None = None  # written where the DAG ended itself


def run(
    submit_dir: Path,
    *,
    slots: int = 0,
    progress: Watcher | None = None,
    restart: bool = False,
    grace: float = GRACE,
    ask: Ask = refuse,
) -> RunOutcome:
    """Run the DAG in ``submit_dir`` to its end, or go on where an earlier run stopped.

    No node that was done is run again. Each call gives unfinished nodes all their
    retries. Jobs that take a slot run ``slots`` at a time (0: one per processor).
    ``ask``: whether nodes that are done run again, where inputs of others are lost.

    Raises RunFailed (RunInterrupted after a signal) when what can be done has been
    done and a rescue file was written; its text says which nodes failed and how to go
    on. Raises UsageError for a submit directory that cannot be run.
    """
    place = find_submit_dir(submit_dir)
    check_place(place)
    with lock_submit_dir(place.lock):
        dag = place.read_dag()

        def check() -> None:
            check_runnable(dag, place.dag)
            check_results_place(place, restart=restart)

        prepared = prepare(place, dag, check, restart=restart, ask=ask)
        note_load(place)
        slots = slots or len(os.sched_getaffinity(0))
        engine = _Run(place, dag, slots, progress or Watcher())
        return engine.run(prepared, max(grace, place.time_to_save))


class _Run:
    def __init__(
        self, place: SubmitDir, dag: Dag, slots: int, watcher: Watcher
    ) -> None:
        self._place = place
        self._dag = dag
        self._slots = slots
        self._watcher = watcher
        self._rescue: Path | None = None

    def run(self, prepared: Preparation, grace: float) -> RunOutcome:
        began = time.monotonic()
        self._table = NodeTable(self._dag, prepared.done)
        total = len(self._dag.nodes)
        before = len(prepared.done)
        if before < total or prepared.history.crashed:
            self._run_nodes(prepared, grace)
        done = self._table.counts[NodeState.DONE]
        seconds = time.monotonic() - began
        return RunOutcome(total, done, before, seconds, prepared.moved, self._rescue)

    def _run_nodes(self, prepared: Preparation, grace: float) -> None:
        journal = JobstateLog(self._place.journal)
        processes = Processes(self._place.processes)
        children = Children(processes, self._place.bb / "bin")
        try:
            with Signals() as signals:
                children.watch(signals.handle)
                scheduler = Scheduler(
                    self._table,
                    self._place.path,
                    slots=self._slots,
                    limits=self._dag.max_jobs,
                    sequence=prepared.history.sequence,
                    journal=journal,
                    children=children,
                    signals=signals,
                    watcher=self._watcher,
                )
                journal.engine(f"DAGMAN_STARTED {os.getpid()}.0")
                self._watcher.begin(len(self._dag.nodes), len(prepared.done))
                for note in prepared.notes:
                    self._watcher.note(note)
                try:
                    self._run_or_stop(scheduler, children, grace)
                    # The watcher is closed last, once the rescue file is written.
                    self._finish(journal, signals.received, scheduler.abort)
                finally:
                    self._watcher.close()
        finally:
            children.close()
            processes.close()
            with suppress(OSError):  # only lines about the end may be missing
                journal.close()

    @staticmethod
    def _run_or_stop(scheduler: Scheduler, children: Children, grace: float) -> None:
        try:
            scheduler.run(grace)
        except BaseException:
            # For example, the journal cannot be written: leave no task running.
            children.stop(grace, lambda: False)
            raise

    def _finish(
        self, journal: JobstateLog, signals: list[int], abort: int | None
    ) -> None:
        """Record how the run ended; raise unless it succeeded.

        Unlike DAGMan, write a rescue file also where ABORT-DAG-ON ends it with 0: the
        next run can do what was left.
        """
        counts = self._table.counts
        if counts[NodeState.DONE] == len(self._dag.nodes):
            journal.engine("DAGMAN_FINISHED 0")
            return
        from pegasus_bb.run.engine.failure_messages import not_done

        rescue = self._place.next_rescue()
        failed = self._table.names(NodeState.FAILED)
        done = set(self._table.names(NodeState.DONE))
        try:
            write_rescue(rescue, self._dag, self._place.dag.name, done, failed)
            status = INTERRUPTED if signals else 1
            journal.engine(f"DAGMAN_FINISHED {status if abort is None else abort}")
        except OSError as full:  # the next run reads the journal, as after a crash
            how = f"{self._place.path}: {full.strerror}: no rescue file was written"
            message = not_done(self._table, self._place, None, how)
            raise RunFailed(message) from full
        if abort == 0:
            self._rescue = rescue
            return
        error = RunInterrupted if signals and abort is None else RunFailed
        how = "stopped" if signals else "the run was aborted" if abort else "not done"
        raise error(not_done(self._table, self._place, rescue, how))
