"""Runs the DAG of a submit directory under HTCondor's DAGMan, and follows it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.core.errors import (
    PegasusBBError,
    ReservationFailed,
    RunFailed,
    RunInterrupted,
    UsageError,
)
from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.run.engine.children import Signals
from pegasus_bb.run.engine.dagman import queue
from pegasus_bb.run.engine.dagman.find import (
    DAGManLife,
    Found,
    LifeLog,
    check_no_dagman,
    find,
    log_of,
)
from pegasus_bb.run.engine.dagman.follow import Follower, wait_for_life
from pegasus_bb.run.engine.dagman.submit_dag import (
    DAGManEnd,
    follow_problem,
    hand_over,
    read_verdict,
    submit,
)
from pegasus_bb.run.engine.failure_messages import believe_rescue, not_done
from pegasus_bb.run.engine.jobstate_log import offset_of, read_history
from pegasus_bb.run.engine.local import RunOutcome
from pegasus_bb.run.engine.lock import lock_submit_dir
from pegasus_bb.run.engine.lost_inputs import Ask, refuse
from pegasus_bb.run.engine.node_progress import Watcher
from pegasus_bb.run.engine.node_table import NodeState, NodeTable
from pegasus_bb.run.engine.nodestates import done_before
from pegasus_bb.run.engine.preparation import Preparation, check_place, prepare
from pegasus_bb.run.engine.submitdir import SubmitDir, find_submit_dir


@dataclass(frozen=True)
class _Start:
    """A DAGMan that was submitted or joined, and what was done before it."""

    cluster: int  # 0 where nothing is left to do
    prepared: Preparation
    offset: int = 0  # where its part of the journal begins


def run(
    submit_dir: Path,
    *,
    progress: Watcher | None = None,
    restart: bool = False,
    ask: Ask = refuse,
) -> RunOutcome:
    """Submit the DAG in ``submit_dir``, or join the DAGMan that works on it, and
    follow it to its end.

    Raises RunFailed where nodes failed, RunInterrupted where DAGMan was removed, or
    where a signal ended the following: then DAGMan goes on. Raises UsageError and
    ReservationFailed, with nothing submitted, as the local engine does.
    """
    place = find_submit_dir(submit_dir)
    dag = place.read_dag()
    with Signals() as signals:
        found = find(place)
        if found is not None and found.alive:
            start = _join(place, dag, found, restart=restart)
        else:
            check_place(place)
            with lock_submit_dir(place.lock):
                start = _submit(place, dag, restart=restart, ask=ask)
        if not start.cluster:
            done = len(start.prepared.done)
            return RunOutcome(len(dag.nodes), done, done, 0.0, start.prepared.moved)
        return _DAGManRun(place, dag, start, progress or Watcher()).run(signals)


def _join(place: SubmitDir, dag: Dag, found: Found, *, restart: bool) -> _Start:
    if restart:
        check_no_dagman(place)  # raises: DAGMan works on it
    cluster = found.life.cluster
    history = read_history(place.journal)
    done = frozenset(done_before(place, dag, history))
    prepared = Preparation(history, done, (), ())
    return _Start(cluster, prepared, offset_of(place.journal, cluster))


def _submit(place: SubmitDir, dag: Dag, *, restart: bool, ask: Ask) -> _Start:
    def check_engine() -> None:
        problem = queue.submit_problem() or follow_problem(place, dag)
        if problem:
            raise UsageError(f"{place.path}: DAGMan cannot run it: {problem}")

    prepared = prepare(place, dag, check_engine, restart=restart, ask=ask)
    if len(prepared.done) == len(dag.nodes):
        return _Start(0, prepared)
    hand_over(place, dag, prepared.done)
    known = LifeLog(log_of(place)).read()
    offset = place.journal.stat().st_size if place.journal.exists() else 0
    submit(place)
    return _Start(wait_for_life(place, known).cluster, prepared, offset)


class _DAGManRun:
    def __init__(
        self, place: SubmitDir, dag: Dag, start: _Start, watcher: Watcher
    ) -> None:
        self._place = place
        self._dag = dag
        self._start = start
        self._watcher = watcher
        self._table = NodeTable(dag, start.prepared.done)

    def run(self, signals: Signals) -> RunOutcome:
        began = time.monotonic()
        start = self._start
        watcher = self._watcher
        follower = Follower(self._place, self._table, start.offset, watcher, signals)
        total = len(self._dag.nodes)
        before = len(start.prepared.done)
        watcher.begin(total, before)
        try:
            watcher.note(f"DAGMan runs it, as job {start.cluster}")
            for note in start.prepared.notes:
                watcher.note(note)
            life = follower.follow(start.cluster)
        finally:
            watcher.close()
        verdict = read_verdict(self._place)
        ended_well = verdict is None or verdict.status == 0
        if life.state == "ended" and life.status == 0 and ended_well:
            seconds = time.monotonic() - began
            done = self._table.counts[NodeState.DONE]
            return RunOutcome(total, done, before, seconds, start.prepared.moved)
        raise self._error(life, follower.gone, verdict)

    def _error(
        self, life: DAGManLife, gone: str, verdict: DAGManEnd | None
    ) -> PegasusBBError:
        believe_rescue(self._table, self._place, self._dag)
        if gone:
            return ReservationFailed(f"{gone}\n{self._not_done('stopped')}")
        if life.state == "removed":
            how = f"stopped: DAGMan, job {life.cluster}, was removed ({life.reason})"
            return RunInterrupted(self._not_done(how))
        lines = [self._not_done("not done")]
        if verdict is not None and not self._table.counts[NodeState.FAILED]:
            lines += (f"DAGMan says: {line}" for line in verdict.errors)
        return RunFailed("\n".join(lines))

    def _not_done(self, how: str) -> str:
        return not_done(self._table, self._place, self._place.last_rescue, how)
