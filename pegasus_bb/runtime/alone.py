"""One job per node at a time.

Where Slurm's controller does not answer for some time, blahp calls a job ended that
runs on; the node fails, is tried again, and its task would run twice on the same files.
So each job notes its number in bb/running/<node>, and one that finds another's number
there waits while that other job runs.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Callable, Mapping

from pegasus_bb.errors import SchedulerUnreachable
from pegasus_bb.runtime.bbdir import BBDir

PAUSE = 10.0  # seconds between two questions about the other job
_RUNS = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING"}


class Alone:
    """While it is entered, the job of this node is the only one; nothing outside
    of Slurm, where nobody calls a job ended that runs."""

    def __init__(
        self,
        bb: BBDir,
        environ: Mapping[str, str],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        node = environ.get("PEGASUS_DAG_JOB_ID", "")
        self._job = environ.get("SLURM_JOB_ID", "") if "/" not in node else ""
        self._note = bb.file(os.path.join("running", node)) if node else ""
        self._pause = pause

    def __enter__(self) -> None:
        if not self._job or not self._note:
            return
        self._wait_for(self._noted())
        try:
            os.makedirs(os.path.dirname(self._note), exist_ok=True)
            with open(self._note, "w", encoding="ascii") as out:
                out.write(self._job)
        except OSError as error:
            error.filename = self._note  # a write knows none
            raise

    def _wait_for(self, other: str) -> None:
        if other in ("", self._job) or not _runs(other):
            return
        print(f"launch: waits for job {other} of this node", file=sys.stderr)
        while self._noted() == other and _runs(other):
            self._pause(PAUSE)

    def __exit__(self, *_: object) -> None:
        if self._job and self._note and self._noted() == self._job:
            with contextlib.suppress(OSError):  # the task is done, whatever is left
                os.unlink(self._note)

    def _noted(self) -> str:
        """The number of the job that is at work, or was killed; empty for none."""
        try:
            with open(self._note, encoding="ascii", errors="replace") as source:
                text = source.read(100)
        except FileNotFoundError:
            return ""
        return text if text.isdigit() else ""


def _runs(job: str) -> bool:
    """Whether Slurm has it running; so where nobody answers."""
    import shutil

    from pegasus_bb.reservation.slurm import Slurm

    if shutil.which("scontrol") is None:
        return False  # a node without Slurm's commands: nobody can tell
    try:
        found = Slurm({}).job(job)
    except SchedulerUnreachable:
        return True
    return found is not None and found.native in _RUNS
