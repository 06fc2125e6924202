"""Slurm's plan for a job is the deadline of its stage-in; without one there is none."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.slurm_job import OWN, STAGE_IN, Job
from tests.support.slurm_stager import SUCCESS, SlurmSite
from tests.support.waiting import until

# What Slurm 24.11 gave to setup, and how long that was before start_time.
RECORDED = [
    ({"start_time": 1795382487, "nodes": None, "sched_nodes": None}, 0),
    ({"start_time": 1795382760, "nodes": None, "sched_nodes": "luabed"}, 156),
]


@pytest.fixture
def paused(site: SlurmSite) -> SlurmSite:
    """Copies wait, so their deadlines can be seen."""
    site.file("in", "an input")
    site.pause()
    return site


def deadline(site: SlurmSite) -> Any:
    """Of the only copy, once the service has accepted it."""
    with site.connect() as client:
        until(client.status)
        [task] = client.status()
        return task["deadline"]


@pytest.mark.parametrize(("info", "ahead"), RECORDED)
def test_a_job_has_one_if_slurm_has_chosen_its_nodes(
    paused: SlurmSite, info: dict[str, Any], ahead: int
) -> None:
    """Without nodes start_time is the time of the call: a deadline that has passed."""
    given = {key: value for key, value in info.items() if value is not None}
    job = Job(paused, OWN, STAGE_IN)
    job.begin(**given)
    job.until_in("staging-in")
    assert deadline(paused) == (given["start_time"] if ahead else None)


def test_it_moves_with_the_plan(paused: SlurmSite) -> None:
    soon = int(time.time()) + 1000
    later = int(time.time()) + 2000
    job = Job(paused, OWN, STAGE_IN)
    job.begin(start_time=soon, sched_nodes="n[1-2]")
    job.until_in("staging-in")
    assert deadline(paused) == soon
    until(lambda: list((paused.spool / "requests").iterdir()) == [])
    unplanned = job.call("test_data_in", start_time=later)
    assert unplanned == job.call("test_data_in", start_time=later + 1, sched_nodes="")
    assert list((paused.spool / "requests").iterdir()) == []  # nothing is to be told
    planned = job.call("test_data_in", start_time=later, sched_nodes="n3")
    assert planned == unplanned == (SUCCESS, "BUSY")
    until(lambda: deadline(paused) == later)
    paused.serve_again()
    job.until_staged("in")
