"""<dag>.dagman.log: what became of each DAGMan that was submitted for a DAG.

HTCondor writes it, event by event; ours to read, also when no schedd answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pegasus_bb.dag.htcondor import htcondor2
from pegasus_bb.errors import UsageError

_SUBMIT, _EXECUTE, _TERMINATED, _ABORTED, _HELD, _RELEASED = 0, 1, 5, 9, 12, 13
_HOST = re.compile(r"[?&]alias=([^&>]+)")


@dataclass(frozen=True)
class Life:
    """One DAGMan: a job of HTCondor's."""

    cluster: int
    host: str = ""  # of its schedd; empty where the log does not say
    state: str = "idle"  # idle | running | held | ended | removed
    status: int | None = None  # its exit status; None too where a signal ended it
    words: str = ""  # why it is held, or who removed it

    @property
    def over(self) -> bool:
        """Whether it is out of the queue, as far as the log says."""
        return self.state in ("ended", "removed")


class LifeLog:
    """The log at ``path``, read on from where it was read to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._source: Any = None
        self._lives: dict[int, Life] = {}

    def read(self) -> dict[int, Life]:
        """All that were ever submitted, by job number; who was heard of last is last.

        Raises UsageError where the log cannot be read.
        """
        for event in self._events():
            before = self._lives.pop(event.cluster, Life(event.cluster))
            self._lives[event.cluster] = _after(before, event)
        return dict(self._lives)

    def _events(self) -> Iterator[Any]:
        try:
            if self._source is None:
                if not self._path.exists():
                    return
                self._source = htcondor2.JobEventLog(str(self._path))
            yield from self._source.events(stop_after=0)
        except (OSError, ValueError, htcondor2.HTCondorException) as error:
            raise UsageError(
                f"{self._path}: what became of DAGMan cannot be read ({error}); "
                "condor_q tells whether it runs"
            ) from error


def _after(life: Life, event: Any) -> Life:
    kind = int(event.type)
    if kind == _SUBMIT:
        found = _HOST.search(event.get("SubmitHost", ""))
        return Life(event.cluster, found[1] if found else "")
    if kind in (_EXECUTE, _RELEASED):
        return replace(life, state="running", words="")
    if kind == _HELD:
        return replace(life, state="held", words=event.get("HoldReason", ""))
    if kind == _ABORTED:
        return replace(life, state="removed", words=event.get("Reason", ""))
    if kind == _TERMINATED:
        return replace(life, state="ended", status=event.get("ReturnValue"))
    return life
