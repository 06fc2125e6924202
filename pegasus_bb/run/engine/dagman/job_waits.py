"""Why jobs of a run wait, in Slurm or for a disk in HTCondor's pool: a question to each
for all of them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.units import abbreviate, format_size
from pegasus_bb.run.engine.dagman import queue
from pegasus_bb.run.engine.node_table import NodeState, NodeTable
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.backends.slurm import Slurm
from pegasus_bb.runtime.backends.squeue import advice, is_looked_at
from pegasus_bb.runtime.bbdir import BBDir

_POLLS = 6  # intervals of the gate
_POLL = 10  # seconds, of a run without a gate
_SHOWN = 4  # names of nodes in a message


class JobWait(NamedTuple):
    node: str
    job: str  # its number there
    reason: str
    would_do: str  # empty if the job begins by itself
    where: str = "Slurm"


def waits_of(cluster: int) -> list[JobWait]:
    """Of the node jobs of the DAGMan ``cluster``, as far as that is known."""
    return [*slurm_waits(cluster), *pool_waits(cluster)]


def pool_waits(cluster: int) -> list[JobWait]:
    """Those that ask for more disk than a slot has: HTCondor says nothing of them."""
    try:
        idle = queue.idle_in_pool(cluster)
        enough = max((asked for _, _, asked in idle), default=0)
        most = queue.largest_disk(enough) if enough else 0
    except PegasusBBError:
        return []
    return [_for_a_disk(*job, most) for job in idle if job[2] > most > 0]


def _for_a_disk(node: str, job: str, asked: int, most: int) -> JobWait:
    reason = (
        f"it asks for {format_size(asked << 10)} of disk, and no slot of the pool has "
        f"more than {format_size(most << 10)}"
    )
    would_do = (
        f"condor_qedit {job} RequestDisk {most} if that is enough, or condor_rm {job}"
    )
    return JobWait(node, job, reason, would_do, "HTCondor's pool")


def slurm_waits(cluster: int) -> list[JobWait]:
    """Of the node jobs of the DAGMan ``cluster``; empty where that is not known."""
    if shutil.which("squeue") is None:
        return []
    try:
        nodes = queue.slurm_jobs_of(cluster)
        jobs = Slurm({}).waiting() if nodes else []
    except PegasusBBError:
        return []
    return [
        JobWait(nodes[job.id], job.id, job.message, advice(job))
        for job in jobs
        if job.id in nodes and is_looked_at(job)
    ]


def wait_messages(waits: Sequence[JobWait]) -> Iterator[str]:
    """A message for each reason."""
    groups: dict[str, list[JobWait]] = {}
    for wait in waits:
        groups.setdefault(wait.reason, []).append(wait)
    for reason, group in groups.items():
        names = abbreviate([wait.node for wait in group], _SHOWN)
        job = group[0].job
        would_do = group[0].would_do
        verb = "waits" if len(group) == 1 else "wait"
        message = f"{names} {verb} in {group[0].where} (job {job}): {reason}"
        yield (
            f"{message}\n  it does not begin by itself: {would_do}"
            if would_do
            else message
        )


class QueueWatch:
    """Asks why jobs wait, while jobs do so for longer than a poll of the gate."""

    def __init__(self, place: SubmitDir, table: NodeTable) -> None:
        self._table = table
        self._poll = _poll_of(place.bb_dir)
        self._next = 0.0
        self._told: set[tuple[str, str]] = set()

    def messages(self, cluster: int) -> list[str]:
        """What was not told yet: a reason, and each node that will not begin."""
        if time.monotonic() < self._next or not self._some_wait():
            return []
        self._next = time.monotonic() + _POLLS * self._poll
        waits = waits_of(cluster)
        keys = {_key(wait) for wait in waits}
        new = [wait for wait in waits if _key(wait) not in self._told]
        self._told = keys
        return list(wait_messages(new))

    def _some_wait(self) -> bool:
        since = time.time() - self._poll
        return any(
            0 < item.queued < since and item.state is NodeState.RUNNING
            for item in self._table.items.values()
        )


def _key(wait: JobWait) -> tuple[str, str]:
    return (wait.node if wait.would_do else "", wait.reason)


def _poll_of(bb: BBDir) -> int:
    try:
        request = bb.transient() if bb.is_transient else bb.request()
        return max(1, request.poll)
    except (PegasusBBError, OSError):
        return _POLL
