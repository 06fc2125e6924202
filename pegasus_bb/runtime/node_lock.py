"""One job per node at a time.

blahp may lose a Slurm job: it reports a running job as ended while slurmctld does not
answer, or gives up on a job that sbatch submits after all. HTCondor then submits the
node again, and its task would run twice on the same files. So each job notes its number
in bb/running/<node>, and the note stays:

* A job that finds the number of another running job waits for its end.
* A job that finds a higher number ends at once: HTCondor has submitted the node again
  and follows only that job, whose results may be in use.
"""

from __future__ import annotations

import os
import time

from pegasus_bb.core.errors import RunFailed, SchedulerUnreachable
from pegasus_bb.core.files import make_folder_of
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.task import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_COUNTS_ANEW = 1_000_000  # a number lower by this much: Slurm has restarted its count
PAUSE = 10.0  # seconds between two polls of the other job
_RUNS = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING"}


def lock_node(
    bb: BBDir,
    environ: Mapping[str, str],
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Take the lock of this job's node, after the end of another running job.

    Does nothing outside of Slurm, because no other system reports running jobs as
    ended. Raises RunFailed if a later job has the lock.
    """
    node = environ.get("PEGASUS_DAG_JOB_ID", "")
    job = environ.get("SLURM_JOB_ID", "")
    if not node or "/" in node or not job:
        return
    note = bb.file(os.path.join("running", node))
    other = _noted(note)
    _check_latest(other, job, note)
    if other not in ("", job) and _runs(other):
        tell(f"waits for job {other} of this node")
        while _noted(note) == other and _runs(other):
            pause(PAUSE)
        _check_latest(_noted(note), job, note)
    try:
        make_folder_of(note)
        with open(note, "w", encoding="ascii") as out:
            out.write(job)
    except OSError as error:
        error.filename = note  # an error of write() has no name
        raise


def _check_latest(other: str, job: str, note: str) -> None:
    if other and 0 < int(other) - int(job) < _COUNTS_ANEW:
        raise RunFailed(
            f"Slurm job {other} of this node was submitted after this job {job}, so "
            "HTCondor does not follow this one; nothing was run. Where Slurm has begun "
            f"to count anew, remove {note}"
        )


def _noted(note: str) -> str:
    try:
        with open(note, encoding="ascii", errors="replace") as source:
            text = source.read(100)
    except FileNotFoundError:
        return ""
    return text if text.isdigit() else ""


def _runs(job: str) -> bool:
    import shutil

    from pegasus_bb.runtime.backends.slurm import Slurm

    if shutil.which("scontrol") is None:
        return False  # a node without Slurm's commands
    try:
        shown = Slurm({}).job(job)
    except SchedulerUnreachable:
        return True
    return shown is not None and shown.native in _RUNS
