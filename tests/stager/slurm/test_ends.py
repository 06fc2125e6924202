"""What squeue says of a job decides whether it has ended without a word of a hook."""

from __future__ import annotations

import time

import pytest

from pegasus_bb.stager.slurm import squeue as module
from pegasus_bb.stager.slurm.job import (
    FAILED_IN,
    NOTED,
    RUNNING,
    STAGED_IN,
    STAGING_IN,
    STAGING_OUT,
    SlurmJob,
)
from pegasus_bb.stager.slurm.squeue import JobState, Queue

MINUTE = 60.0


def job(state: str, minutes_ago: float) -> SlurmJob:
    found = SlurmJob(7, 1000, 1000)
    found.state, found.changed_at = state, time.time() - minutes_ago * MINUTE
    return found


def has_ended(one: SlurmJob, state: JobState | None, noted: bool = False) -> bool:
    states = {} if state is None else {one.number: state}
    return module.has_ended(one, Queue(states, time.time()), [7] if noted else [])


CANCELLED = JobState("CANCELLED")


@pytest.mark.parametrize("state", [NOTED, STAGING_IN, FAILED_IN, STAGED_IN])
def test_a_job_that_never_began_has_ended(state: str) -> None:
    assert has_ended(job(state, 1), CANCELLED)
    assert not has_ended(job(state, 1), JobState("PENDING"))
    assert not has_ended(job(state, 1), None)
    assert has_ended(job(state, 11), None)
    assert not has_ended(job(state, 11), None, noted=True)
    assert not has_ended(job(state, -1), CANCELLED)  # squeue was asked before that


@pytest.mark.parametrize("word", ["COMPLETED", "TIMEOUT", "PREEMPTED", "REVOKED"])
def test_a_job_that_ran_has_ended_unless_its_start_or_its_results_wait(
    word: str,
) -> None:
    over = JobState(word, "node1")
    assert has_ended(job(RUNNING, 1), over)
    assert not has_ended(job(RUNNING, 1), JobState("COMPLETING", "node1"))
    assert not has_ended(job(STAGED_IN, 1), over)
    assert not has_ended(job(STAGING_OUT, 90), over)
    assert not has_ended(job(STAGING_OUT, 90), None)


def test_one_that_runs_has_where_squeue_does_not_know_it_for_an_hour() -> None:
    runs = job(RUNNING, 300)
    now = time.time()

    def known(minute: float, states: dict[int, JobState]) -> bool:
        return module.has_ended(runs, Queue(states, now + minute * MINUTE), [])

    assert not known(0, {}) and not known(59, {})
    assert not known(60, {7: JobState("RUNNING", "node1")})
    assert not known(62, {}) and not known(121, {})
    assert known(123, {})
