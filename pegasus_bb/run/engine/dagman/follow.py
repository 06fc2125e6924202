"""Follows a DAGMan until it ends, or until a signal stops the following."""

from __future__ import annotations

import select
import time
from collections.abc import Collection

from pegasus_bb.core.errors import RunFailed, RunInterrupted, SchedulerUnreachable
from pegasus_bb.run.engine.children import Signals
from pegasus_bb.run.engine.dagman import queue
from pegasus_bb.run.engine.dagman.find import DAGManLife, LifeLog, log_of
from pegasus_bb.run.engine.dagman.job_waits import QueueWatch
from pegasus_bb.run.engine.dagman.replay import Replay
from pegasus_bb.run.engine.dagman.watch import ReservationWatch, StageOutWatch
from pegasus_bb.run.engine.jobstate_log import Tail
from pegasus_bb.run.engine.node_progress import Watcher
from pegasus_bb.run.engine.node_table import NodeTable
from pegasus_bb.run.engine.submitdir import SubmitDir

_POLL = 1.0  # seconds between two reads of the files
_QUEUE_POLL = 60.0  # seconds between two queries of the queue for the DAGMan
_LAG = 10.0  # seconds that the journal may be behind
_SUBMIT_TIMEOUT = 60.0  # seconds until a submitted DAGMan is in its log


def wait_for_life(place: SubmitDir, known: Collection[int]) -> DAGManLife:
    """The DAGMan that was just submitted. Raises RunFailed where none shows up."""
    log = LifeLog(log_of(place))
    deadline = time.monotonic() + _SUBMIT_TIMEOUT
    while True:
        new = [life for number, life in log.read().items() if number not in known]
        if new:
            return new[-1]
        if time.monotonic() > deadline:
            raise RunFailed(
                f"{log_of(place)}: HTCondor took the DAG, and {_SUBMIT_TIMEOUT:.0f} s "
                "later its log does not tell of it; condor_q shows whether it runs"
            )
        time.sleep(0.1)


class Follower:
    """Reads the logs of DAGMan and HTCondor. Removes jobs that cannot continue."""

    def __init__(
        self,
        place: SubmitDir,
        table: NodeTable,
        offset: int,
        watcher: Watcher,
        signals: Signals,
    ) -> None:
        """``offset``: where the journal of this DAGMan begins."""
        self.gone = ""  # why we removed the DAGMan
        self._place = place
        self._watcher = watcher
        self._signals = signals
        self._replay = Replay(table, place, watcher, _why_held)
        self._tail = Tail(place.journal, offset)
        self._reservation = ReservationWatch(place, table)
        self._stageouts = StageOutWatch(place, table)
        self._queue = QueueWatch(place, table)
        self._log = LifeLog(log_of(place))
        self._held = ""
        self._ended = False
        self._asked = time.monotonic()

    def follow(self, cluster: int) -> DAGManLife:
        """Follow it to its end. Raises RunInterrupted after a signal; DAGMan goes on.

        Raises RunFailed where it has left the queue and its log has no end.
        """
        while True:
            life = self._read(cluster)
            if life is not None and life.over:
                self._read_to_the_end()
                return life
            if self._signals.received:
                raise RunInterrupted(_left_running_message(self._place, cluster))
            self._check_queue(cluster)
            self._stop_if_lost(cluster)
            for message in self._stageouts.remove_failed():
                self._watcher.warn(message)
            for message in self._queue.messages(cluster):
                self._watcher.note(message)
            select.select([self._signals.handle], [], [], _POLL)

    def _stop_if_lost(self, cluster: int) -> None:
        """Remove the DAGMan of a vanished reservation: its jobs would wait for ever."""
        if self.gone:
            return
        self.gone = self._reservation.gone()
        if self.gone:
            self._watcher.warn(f"{self.gone}: DAGMan, job {cluster}, is removed")
            queue.remove(cluster)

    def _read_to_the_end(self) -> None:
        """Wait for monitord, which writes the journal with a delay."""
        deadline = time.monotonic() + _LAG
        while not self._ended and time.monotonic() < deadline:
            time.sleep(0.2)
            self._read_journal()

    def _read_journal(self) -> None:
        for event in self._tail.new():
            self._ended = event.event == "DAGMAN_FINISHED"
            self._replay.apply(event)

    def _read(self, cluster: int) -> DAGManLife | None:
        # The log is read first, so that no line written before the end is missed.
        life = self._log.read().get(cluster)
        self._read_journal()
        self._replay.tick()
        held = life.reason if life is not None and life.state == "held" else ""
        if held and held != self._held and life is not None:
            self._watcher.warn(
                f"DAGMan is held: {held}; condor_release {life.cluster} lets it go on"
            )
        self._held = held
        return life

    def _check_queue(self, cluster: int) -> None:
        if time.monotonic() - self._asked < _QUEUE_POLL:
            return
        self._asked = time.monotonic()
        try:
            there = queue.held(cluster) is not None
        except SchedulerUnreachable:
            return  # DAGMan may still run
        life = self._log.read().get(cluster)
        if not there and life is not None and not life.over:
            raise RunFailed(
                f"DAGMan, job {cluster}, is in the queue no more, and its log tells of "
                f"no end; to continue: pegasus-bb run {self._place.path}"
            )


def _why_held(cluster: int) -> str | None:
    try:
        return queue.held(cluster)
    except SchedulerUnreachable as error:
        return f"why is not known: {error}"


def _left_running_message(place: SubmitDir, cluster: int) -> str:
    return (
        f"not followed any more; the workflow goes on under DAGMan, job {cluster}\n"
        f"to follow it again: pegasus-bb run {place.path}\n"
        f"to stop it:         condor_rm {cluster}"
    )
