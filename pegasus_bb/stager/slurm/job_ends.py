"""Jobs that have ended without a word of a hook (job_states.py says why).

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

from pegasus_bb.stager.slurm.job import (
    BEFORE_RUN,
    FAILED_IN,
    NOTED,
    RUNNING,
    STAGED_IN,
    STAGING_IN,
    SlurmJob,
)
from pegasus_bb.stager.slurm.job_states import Queue, is_over, never_began

_LONG = 600.0  # seconds for which a job waits to be started
_LOST = 3600.0  # seconds for which squeue does not know a job that runs
_HOLDS_SPACE = (STAGING_IN, FAILED_IN, STAGED_IN, RUNNING)


def may_be_over(job: SlurmJob) -> bool:
    """Whether squeue should be asked."""
    is_new = time.time() - job.changed_at < _LONG
    return job.state in (STAGED_IN, RUNNING) or (job.state in BEFORE_RUN and not is_new)


def holds_space(job: SlurmJob) -> bool:
    """Whether another job may wait for the space of this one."""
    return bool(job.lines) and job.state in _HOLDS_SPACE


class Ends:
    """Remembers since when squeue does not know a job that runs."""

    def __init__(self) -> None:
        self._unknown: dict[int, float] = {}  # by job: when squeue was asked first

    def has_ended(self, job: SlurmJob, queue: Queue, noted: Container[int]) -> bool:
        """``noted``: the jobs of which a note of a hook is not heeded yet."""
        if job.number in noted or job.changed_at > queue.asked_at:
            return False
        state = queue.states.get(job.number)
        if state is None:
            return self._is_forgotten(job, queue.asked_at)
        self._unknown.pop(job.number, None)
        if job.state == STAGED_IN:
            return never_began(state)
        return job.state in (NOTED, *_HOLDS_SPACE) and is_over(state)

    def _is_forgotten(self, job: SlurmJob, asked_at: float) -> bool:
        if job.state == RUNNING:
            since = self._unknown.setdefault(job.number, asked_at)
            return asked_at - max(since, job.changed_at) > _LOST
        return job.state in BEFORE_RUN and asked_at - job.changed_at > _LONG

    def forget(self, job: SlurmJob) -> None:
        """``job`` is torn down."""
        self._unknown.pop(job.number, None)
