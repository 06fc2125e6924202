"""One job per node at a time.

blahp may lose sight of a Slurm job: it calls one ended that runs on while slurmctld
gives no answer, or gives one up that sbatch has submitted after all. The node is then
submitted again, and its task would run twice on the same files. So each job notes its
number in bb/running/<node>, and the note stays:

* A job that finds the number of another that runs waits for its end.
* A job that finds a higher number ends at once: HTCondor has submitted the node again
  since, and follows that job alone. Results may be in use by now.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Callable, Mapping

from pegasus_bb.errors import RunFailed, SchedulerUnreachable
from pegasus_bb.runtime.bbdir import BBDir

_COUNTS_ANEW = 1_000_000  # a number so much lower is of a new round
PAUSE = 10.0  # seconds between two questions about the other job
_RUNS = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING"}


class NodeLock:
    """While it is entered, the job of this node is the only one; nothing outside
    of Slurm, where a job that runs is never called ended."""

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
        """Raises RunFailed where a later job has the node."""
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

    def _check_latest(self, other: str) -> None:
        if other and 0 < int(other) - int(self._job) < _COUNTS_ANEW:
            raise RunFailed(
                f"Slurm job {other} of this node was submitted after this job "
                f"{self._job}, so HTCondor does not follow this one; nothing was run. "
                f"Where Slurm has begun to count anew, remove {self._note}"
            )

    def _wait_for(self, other: str) -> None:
        self._check_latest(other)
        if other in ("", self._job) or not _runs(other):
            return
        print(f"launch: waits for job {other} of this node", file=sys.stderr)
        while self._noted() == other and _runs(other):
            self._pause(PAUSE)
        self._check_latest(self._noted())

    def __exit__(self, *_: object) -> None:
        """The note stays, for jobs that were submitted before and begin later."""

    def _noted(self) -> str:
        """The number of the last job that was at work; empty for none."""
        try:
            with open(self._note, encoding="ascii", errors="replace") as source:
                text = source.read(100)
        except FileNotFoundError:
            return ""
        return text if text.isdigit() else ""


def _runs(job: str) -> bool:
    """Whether Slurm says that it runs; also True without an answer."""
    import shutil

    from pegasus_bb.reservation.slurm import Slurm

    if shutil.which("scontrol") is None:
        return False  # a node without Slurm's commands
    try:
        found = Slurm({}).job(job)
    except SchedulerUnreachable:
        return True
    return found is not None and found.native in _RUNS
