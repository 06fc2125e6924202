"""Runs the DAG of a submit directory under HTCondor's DAGMan, and follows it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.dag.nodes import Dag
from pegasus_bb.dag.reader import read_dag
from pegasus_bb.engine.children import Signals
from pegasus_bb.engine.dagman import queue
from pegasus_bb.engine.dagman.find import (
    Found,
    Life,
    LifeLog,
    check_alone,
    find,
    log_of,
)
from pegasus_bb.engine.dagman.follow import Follower, wait_for_life
from pegasus_bb.engine.dagman.replay import Replay
from pegasus_bb.engine.dagman.submit import (
    hand_over,
    read_verdict,
    submit,
    why_not_followed,
)
from pegasus_bb.engine.dagman.watch import ReservationWatch, StageOutWatch
from pegasus_bb.engine.failure_messages import believe_rescue, not_done
from pegasus_bb.engine.journal import Tail, offset_of, read_history
from pegasus_bb.engine.local import Outcome
from pegasus_bb.engine.lock import locked
from pegasus_bb.engine.lost_inputs import Ask, refuse
from pegasus_bb.engine.nodestates import done_before
from pegasus_bb.engine.preparation import (
    Preparation,
    check_place,
    prepare,
)
from pegasus_bb.engine.progress import Watcher
from pegasus_bb.engine.rescue import read_failed, read_rescue
from pegasus_bb.engine.submitdir import SubmitDir, find_submit_dir
from pegasus_bb.engine.table import State, Table
from pegasus_bb.errors import (
    PegasusBBError,
    ReservationFailed,
    RunFailed,
    RunInterrupted,
    SchedulerUnreachable,
    UsageError,
)


@dataclass(frozen=True)
class _Begun:
    """A DAGMan under way, and what was done before it."""

    cluster: int  # 0 where nothing is left to do
    prepared: Preparation
    offset: int = 0  # where its part of the journal begins


def run(
    submit_dir: Path,
    *,
    progress: Watcher | None = None,
    restart: bool = False,
    ask: Ask = refuse,
) -> Outcome:
    """Submit the DAG in ``submit_dir``, or join the DAGMan that works on it, and
    follow it to its end.

    Raises RunFailed where nodes failed, RunInterrupted where DAGMan was removed, or
    where a signal ended the following: then DAGMan goes on. Raises UsageError and
    ReservationFailed, with nothing submitted, as the local engine does.
    """
    place = find_submit_dir(submit_dir)
    dag = read_dag(place.dag)
    with Signals() as signals:
        found = find(place)
        if found is not None and found.alive:
            begun = _joined(place, dag, found, restart)
        else:
            check_place(place)
            with locked(place.lock):
                begun = _submitted(place, dag, restart, ask)
        if not begun.cluster:
            done = len(begun.prepared.done)
            return Outcome(len(dag.nodes), done, done, 0.0, begun.prepared.aside)
        return _Following(place, dag, begun, progress or Watcher()).run(signals)


def _joined(place: SubmitDir, dag: Dag, found: Found, restart: bool) -> _Begun:
    if restart:
        check_alone(place)  # says that DAGMan works on it
    cluster = found.life.cluster
    history = read_history(place.journal)
    done = frozenset(done_before(place, dag, history))
    prepared = Preparation(history, done, (), ())
    return _Begun(cluster, prepared, offset_of(place.journal, cluster))


def _submitted(place: SubmitDir, dag: Dag, restart: bool, ask: Ask) -> _Begun:
    def check_engine() -> None:
        problem = queue.why_not() or why_not_followed(place, dag)
        if problem:
            raise UsageError(f"{place.path}: DAGMan cannot run it: {problem}")

    prepared = prepare(place, dag, check_engine, restart, ask)
    if len(prepared.done) == len(dag.nodes):
        return _Begun(0, prepared)
    hand_over(place, dag, prepared.done)
    known = LifeLog(log_of(place)).read()
    offset = place.journal.stat().st_size if place.journal.exists() else 0
    submit(place)
    return _Begun(wait_for_life(place, known).cluster, prepared, offset)


class _Following:
    def __init__(
        self, place: SubmitDir, dag: Dag, begun: _Begun, watcher: Watcher
    ) -> None:
        self._place, self._dag, self._begun = place, dag, begun
        self._watcher = watcher
        self._table = Table(dag, begun.prepared.done)
        self._began = time.monotonic()
        self._gone = ""  # why nothing could go on

    def run(self, signals: Signals) -> Outcome:
        total, before = len(self._dag.nodes), len(self._begun.prepared.done)
        self._watcher.begin(total, before)
        try:
            self._watcher.note(f"DAGMan runs it, as job {self._begun.cluster}")
            for note in self._begun.prepared.notes:
                self._watcher.note(note)
            life = self._follow(signals)
        finally:
            self._watcher.close()
        if life.state == "ended" and life.status == 0 and self._ended_well():
            seconds = time.monotonic() - self._began
            done = self._table.counts[State.DONE]
            return Outcome(total, done, before, seconds, self._begun.prepared.aside)
        raise self._ended_badly(life)

    def _follow(self, signals: Signals) -> Life:
        replay = Replay(self._table, self._place, self._watcher, _held)
        tail = Tail(self._place.journal, self._begun.offset)
        watch = ReservationWatch(self._place, self._table)
        stageouts = StageOutWatch(self._place, self._table)
        follower = Follower(
            self._place, replay, tail, self._watcher, signals, watch, stageouts
        )
        life = follower.follow(self._begun.cluster)
        self._gone = follower.gone
        return life

    def _ended_badly(self, life: Life) -> PegasusBBError:
        rescues = self._place.rescues()
        rescue = rescues[-1] if rescues else None
        if rescue is not None:
            self._believe(rescue)
        if self._gone:
            told = not_done(self._table, self._place, rescue, "stopped")
            return ReservationFailed(f"{self._gone}\n{told}")
        if life.state == "removed":
            how = f"stopped: DAGMan, job {life.cluster}, was removed ({life.words})"
            return RunInterrupted(not_done(self._table, self._place, rescue, how))
        told = not_done(self._table, self._place, rescue, "not done")
        if not self._table.counts[State.FAILED]:
            told = "\n".join([told, *self._what_dagman_says()])
        return RunFailed(told)

    def _ended_well(self) -> bool:
        """pegasus-dagman's exit status alone does not tell."""
        verdict = read_verdict(self._place)
        return verdict is None or verdict.status == 0

    def _what_dagman_says(self) -> list[str]:
        """Where it ended, and no node is to blame."""
        verdict = read_verdict(self._place)
        return [f"DAGMan says: {line}" for line in verdict.errors] if verdict else []

    def _believe(self, rescue: Path) -> None:
        """DAGMan's own word on what is done and what failed, where the journal was
        behind: monitord, which writes it, may die before."""
        for name in read_rescue(rescue, self._dag):
            item = self._table.items[name]
            if item.state is not State.DONE:
                self._table.move(item, State.DONE)
        believe_rescue(self._table, self._place, read_failed(rescue, self._dag))


def _held(cluster: int) -> str | None:
    try:
        return queue.held(cluster)
    except SchedulerUnreachable as error:
        return f"why is not known: {error}"
