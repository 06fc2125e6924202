"""What squeue says of jobs: some end without a hook being called.

Slurm starts the teardown of a job that it cancels, and now and then kills it at once
with the job's other hooks ("teardown for JobId=7 terminated by slurmctld" in its log).
It calls no other then. So where jobs wait for long, squeue is asked.

| state | it has ended where |
| --- | --- |
| noted, staging in, failed | squeue says so; or has not known it for ten minutes |
| staged in | squeue says so, and that it had no node; or the same ten minutes |
| running | squeue says so; or has not known it for an hour |

One that is staged in may have run: while the disk is full, the note of that waits.
"""

from __future__ import annotations

import time
from collections.abc import Container
from typing import NamedTuple

from pegasus_bb.core.process import ask
from pegasus_bb.stager.slurm.job import (
    BEFORE_END,
    BEFORE_RUN,
    RUNNING,
    STAGED_IN,
    SlurmJob,
)

_OVER = (
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED "
    "REVOKED TIMEOUT"
)
_ASK = ("squeue", "--local", "--noheader", "--states=all", "--format=%A %T %N")
_LONG = 600.0  # seconds for which a job waits to be started
_LOST = 3600.0  # seconds for which squeue does not know a job that runs


class JobState(NamedTuple):
    """As squeue has it. ``nodes``: those that it runs on, or has run on."""

    word: str
    nodes: str = ""


class Queue(NamedTuple):
    """All jobs that the caller may see, by number."""

    states: dict[int, JobState]
    asked_at: float  # of the epoch


def read_queue() -> Queue | None:
    """Ask squeue. Returns None where Slurm does not answer."""
    asked_at = time.time()
    answer = ask(_ASK)
    lines: list[list[str]] = [line.split() for line in answer.out.splitlines()]
    good = all(len(line) in (2, 3) and line[0].isdigit() for line in lines)
    if answer.status != 0 or not good:
        return None
    states = {int(number): JobState(*state) for number, *state in lines}
    return Queue(states, asked_at)


def has_ended(job: SlurmJob, queue: Queue, noted: Container[int]) -> bool:
    """Tell whether ``job`` has, as ``queue`` has it. ``noted``: the jobs with a note of
    a hook that is not handled yet."""
    if job.number in noted or job.changed_at > queue.asked_at:
        return False
    state = queue.states.get(job.number)
    if state is not None:
        job.unknown_since = 0.0
        began = job.state == STAGED_IN and state.nodes
        is_over = state.word in _OVER.split()
        return job.state in BEFORE_END and is_over and not began
    if job.state == RUNNING:
        job.unknown_since = job.unknown_since or queue.asked_at
        return queue.asked_at - max(job.unknown_since, job.changed_at) > _LOST
    return job.state in BEFORE_RUN and queue.asked_at - job.changed_at > _LONG
