"""Finds whether a DAGMan works on a submit directory, from its log and the queue."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import SchedulerUnreachable, UsageError
from pegasus_bb.model.dag.htcondor_api import htcondor2
from pegasus_bb.run.engine.dagman import queue
from pegasus_bb.run.engine.submitdir import SubmitDir

_SUBMIT = 0
_EXECUTE = 1
_TERMINATED = 5
_ABORTED = 9
_HELD = 12
_RELEASED = 13
_TORN = "ULOG_RD_ERROR"
_MOST_TORN = 100  # events at a time, a second each; more is no log
_HOST = re.compile(r"[?&]alias=([^&>]+)")


@dataclass(frozen=True)
class Found:
    """The last DAGMan of a submit directory."""

    life: DAGManLife
    alive: bool = False
    unknown: str = ""  # why it is not known whether it lives

    @property
    def description(self) -> str:
        """The DAGMan job and its state, for messages; empty where it does not run."""
        if self.unknown:
            return f"DAGMan, job {self.life.cluster}, perhaps: {self.unknown}"
        if not self.alive:
            return ""
        held = self.life.state == "held"
        state = f", held: {self.life.reason}" if held else ""
        return f"DAGMan, job {self.life.cluster}{state}"


def log_of(place: SubmitDir) -> Path:
    return place.dag.with_name(f"{place.dag.name}.dagman.log")


def lock_of(place: SubmitDir) -> Path:
    """DAGMan's lock file: if it exists, the next DAGMan recovers from its log."""
    return place.dag.with_name(f"{place.dag.name}.lock")


def find(place: SubmitDir) -> Found | None:
    """The DAGMan of ``place``; None where none was ever submitted.

    Asks the queue only about those whose log has no end.
    """
    lives = list(LifeLog(log_of(place)).read().values())
    found = [_state_in_queue(life) for life in lives if not life.over]
    for one in found:
        if one.alive or one.unknown:
            return one
    return (found or [Found(lives[-1])])[-1] if lives else None


def _state_in_queue(life: DAGManLife) -> Found:
    if not queue.is_here(life.host):
        return Found(life, unknown=f"it was submitted on host {life.host}")
    try:
        alive = queue.held(life.cluster) is not None
    except SchedulerUnreachable as error:
        return Found(life, unknown=str(error))
    if alive or life.is_whole:
        return Found(life, alive)
    return Found(life, unknown="its log does not tell on which host it was submitted")


def check_no_dagman(place: SubmitDir) -> None:
    """Raises UsageError or SchedulerUnreachable where a DAGMan works on ``place``, or
    may, or where jobs of a vanished one still run."""
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
    """Also find a DAGMan missing from the log: `condor_submit_dag -force` starts
    anew."""
    if shutil.which("condor_q") is None:
        return
    try:
        others = queue.dagmans_logging_to(log_of(place))
    except SchedulerUnreachable:
        return  # by its log there is none
    if others:
        raise UsageError(
            f"{place.path}: DAGMan works on it as job {', '.join(others)}, of which "
            f"its log does not tell; stop it with condor_rm {' '.join(others)}"
        )


@dataclass(frozen=True)
class DAGManLife:
    cluster: int
    host: str = ""  # of its schedd; empty where the log does not say
    state: str = "idle"  # idle | running | held | ended | removed
    status: int | None = None  # its exit status; None too where a signal ended it
    reason: str = ""  # why it is held, or who removed it
    is_whole: bool = False  # the log has its beginning

    @property
    def over(self) -> bool:
        """Whether it has left the queue, according to the log."""
        return self.state in ("ended", "removed")


class LifeLog:
    """<dag>.dagman.log, which HTCondor writes; each ``read`` continues the last one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._source: Any = None
        self._lives: dict[int, DAGManLife] = {}

    def read(self) -> dict[int, DAGManLife]:
        """All DAGMans ever submitted, by job number; the one of the last event is last.

        Raises UsageError where the log cannot be read.
        """
        for event in self._events():
            before = self._lives.pop(event.cluster, DAGManLife(event.cluster))
            self._lives[event.cluster] = _apply(before, event)
        return dict(self._lives)

    def _events(self) -> Iterator[Any]:
        """Without those that a full disk has torn, and the one behind each, with which
        HTCondor's reader skips it: the queue tells whether a DAGMan is still there."""
        try:
            if self._source is None:
                if not self._path.exists():
                    return
                self._source = htcondor2().JobEventLog(str(self._path))
            torn = 0
            while torn < _MOST_TORN:
                try:
                    yield from self._source.events(stop_after=0)
                    return
                except htcondor2().HTCondorException as error:
                    torn += 1
                    if _TORN not in str(error) or torn == _MOST_TORN:
                        raise
        except (OSError, ValueError, htcondor2().HTCondorException) as error:
            raise UsageError(
                f"{self._path}: what became of DAGMan cannot be read ({error}); "
                "condor_q tells whether it runs"
            ) from error


def _apply(life: DAGManLife, event: Any) -> DAGManLife:
    kind = int(event.type)
    if kind == _SUBMIT:
        found = _HOST.search(event.get("SubmitHost", ""))
        return DAGManLife(event.cluster, found[1] if found else "", is_whole=True)
    if kind in (_EXECUTE, _RELEASED):
        return replace(life, state="running", reason="")
    if kind == _HELD:
        return replace(life, state="held", reason=event.get("HoldReason", ""))
    if kind == _ABORTED:
        return replace(life, state="removed", reason=event.get("Reason", ""))
    if kind == _TERMINATED:
        return replace(life, state="ended", status=event.get("ReturnValue"))
    return life
