"""Whether a DAGMan works on a submit directory, from its log and the queue."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.engine.dagman import queue
from pegasus_bb.engine.dagman.log import Life, LifeLog
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import SchedulerUnreachable, UsageError


@dataclass(frozen=True)
class Found:
    """The last DAGMan of a submit directory."""

    life: Life
    alive: bool = False
    unknown: str = ""  # why nobody can tell whether it lives

    @property
    def words(self) -> str:
        """Who it is and what it does, for people; empty where it does nothing."""
        if self.unknown:
            return f"DAGMan, job {self.life.cluster}, perhaps: {self.unknown}"
        if not self.alive:
            return ""
        held = self.life.state == "held"
        state = f", held: {self.life.words}" if held else ""
        return f"DAGMan, job {self.life.cluster}{state}"


def log_of(place: SubmitDir) -> Path:
    """Where HTCondor notes what becomes of DAGMan itself."""
    return place.dag.with_name(f"{place.dag.name}.dagman.log")


def lock_of(place: SubmitDir) -> Path:
    """DAGMan's own lock file: the next one goes on from its log where it is there."""
    return place.dag.with_name(f"{place.dag.name}.lock")


def find(
    place: SubmitDir, held: Callable[[int], str | None] = queue.held
) -> Found | None:
    """The DAGMan of ``place``; None where none was ever submitted.

    Asks the queue about those alone of whose end the log does not tell; ``held`` may
    have its answer already.
    """
    lives = list(LifeLog(log_of(place)).read().values())
    found = [_found(life, held) for life in lives if not life.over]
    for one in found:
        if one.alive or one.unknown:
            return one
    return (found or [Found(lives[-1])])[-1] if lives else None


def _found(life: Life, held: Callable[[int], str | None]) -> Found:
    if not queue.is_here(life.host):
        return Found(life, unknown=f"it was submitted on host {life.host}")
    try:
        return Found(life, alive=held(life.cluster) is not None)
    except SchedulerUnreachable as error:
        return Found(life, unknown=str(error))


def check_alone(place: SubmitDir) -> None:
    """Raises where a DAGMan works on ``place``, or may: UsageError,
    SchedulerUnreachable. Nor may jobs of one that has vanished run on."""
    found = find(place)
    if found is None or found.life.over:
        _check_queue(place)
        return
    cluster = found.life.cluster
    if found.unknown:
        raise SchedulerUnreachable(
            f"{place.path}: DAGMan works on it as job {cluster}, or did: "
            f"{found.unknown}. Nothing is started before that is known; where that "
            f"HTCondor is gone for good, remove {log_of(place)}"
        )
    if found.alive:
        raise UsageError(
            f"{place.path}: DAGMan works on it as job {cluster}; follow it with "
            f"pegasus-bb run {place.path}, or stop it with condor_rm {cluster}"
        )
    left = queue.jobs_of(cluster)
    if left:
        raise UsageError(
            f"{place.path}: DAGMan, job {cluster}, is gone and left {len(left)} of its "
            "jobs in the queue; remove them first: "
            f"condor_rm -constraint 'DAGManJobId == {cluster}'"
        )


def _check_queue(place: SubmitDir) -> None:
    """`condor_submit_dag -force` begins a new log, which tells of no earlier DAGMan."""
    if shutil.which("condor_q") is None:
        return
    try:
        others = queue.logging_to(log_of(place))
    except SchedulerUnreachable:
        return  # as far as the log tells there is none
    if others:
        raise UsageError(
            f"{place.path}: DAGMan works on it as job {', '.join(others)}, of which "
            f"its log does not tell; stop it with condor_rm {' '.join(others)}"
        )
