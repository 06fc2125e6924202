"""The service takes no task now: jobs wait, and none fails."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.slurm_job import COPIES, OWN, Job
from tests.support.slurm_stager import SUCCESS, SlurmSite
from tests.support.waiting import until

MANY = 200  # tasks: the database is longer than every other file of the service


@pytest.fixture
def away(away: SlurmSite) -> SlurmSite:
    away.tidies_every = 0.2
    away.file("in", "an input")
    return away


def waits(job: Job, state: str, why: str) -> None:
    until(lambda: job.known() == state and why in job.known("message"))
    hook = "test_data_in" if state in ("noted", "staging-in") else "test_data_out"
    assert job.call(hook) == (SUCCESS, "BUSY")


def submit(site: SlurmSite, count: int = 1) -> None:
    """Tasks of no job."""
    copy: dict[str, Any] = {"kind": "copy", "source": "lustre://in"}
    with site.connect() as client:
        client.submit([{**copy, "dest": f"lustre://{n}"} for n in range(count)])


def drain(site: SlurmSite) -> None:
    """It cannot end yet: a task of another user's waits."""
    site.pause()
    submit(site)
    site.ask_control("drain")


def upgrade(site: SlurmSite) -> None:
    """What was accepted is done, the service has ended, and a new one is started."""
    site.resume()
    assert site.has_ended()
    site.serve()


def test_while_it_drains_and_they_go_on_with_the_next_one(site: SlurmSite) -> None:
    running = Job(site, OWN, *COPIES)
    running.compute("a result")
    drain(site)
    new = Job(site, OWN, *COPIES)
    new.begin()
    running.end()
    waits(new, "staging-in", "takes no new task")
    waits(running, "staging-out", "takes no new task")
    upgrade(site)
    new.until_staged("in")
    running.until_staged("out")
    assert site.saved == "a result"
    assert (new.runs_in() / "in").read_text() == "an input"


def test_while_its_database_is_full_and_they_go_on_by_themselves(
    site: SlurmSite,
) -> None:
    submit(site, MANY)
    job = Job(site, OWN, *COPIES)
    site.limit_files(MANY * 20)
    job.begin()
    waits(job, "noted", "tasks.sqlite: ")
    site.limit_files()
    own = job.compute("a result")
    assert (own / "in").exists()
    site.limit_files(MANY * 20)
    job.end()
    waits(job, "running", "tasks.sqlite: ")
    site.limit_files()
    job.until_staged("out")
    assert site.saved == "a result"
