"""The service takes no task now: jobs wait, and none fails."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import pytest

from .conftest import SUCCESS, Job, SlurmSite, until

OWN = "jobbb capacity=2MiB pool=flash"
COPIES = ("stage_in lustre://in job://in", "stage_out job://out lustre://out")
MANY = 200  # tasks: the database is longer than every other file of the service


@pytest.fixture
def away(away: SlurmSite) -> SlurmSite:
    away.tidies_every = 0.2
    away.file("in", "an input")
    return away


def told(job: Job, key: str) -> str:
    """What the service has told the hooks."""
    path = job.site.spool / "jobs" / str(job.id)
    text = path.read_text() if path.exists() else ""
    return dict(line.split("=", 1) for line in text.splitlines()).get(key, "")


def begin(job: Job) -> None:
    assert job.call("setup") == job.call("data_in") == (SUCCESS, "")


def end(job: Job) -> None:
    assert job.call("post_run", exit_code=0) == (SUCCESS, "")
    assert job.call("data_out", exit_code=0) == (SUCCESS, "")


def waits(job: Job, state: str, why: str) -> None:
    until(lambda: told(job, "state") == state and why in told(job, "message"))
    hook = "test_data_in" if state == "staging-in" else "test_data_out"
    assert job.call(hook) == (SUCCESS, "BUSY")


def submit(site: SlurmSite, count: int = 1) -> None:
    """Tasks of no job."""
    copy: dict[str, Any] = {"kind": "copy", "source": "lustre://in"}
    with site.connect() as client:
        client.submit([{**copy, "dest": f"lustre://{n}"} for n in range(count)])


def drain(site: SlurmSite) -> None:
    """It cannot end yet: a task of another user's waits."""
    site.ask_control("pause")
    submit(site)
    site.ask_control("drain")


def upgrade(site: SlurmSite) -> None:
    """What was accepted is done, the service has ended, and a new one is started."""
    assert site.process is not None
    site.ask_control("resume")
    assert site.process.wait(timeout=20) == 0
    site.serve()


def test_while_it_drains_and_they_go_on_with_the_next_one(site: SlurmSite) -> None:
    running = Job(site, OWN, *COPIES)
    assert running.stage_in() == (SUCCESS, "")
    (Path(running.run()["BB_JOB"]) / "out").write_text("a result")
    until(lambda: told(running, "state") == "running")
    drain(site)
    new = Job(site, OWN, *COPIES)
    begin(new)
    end(running)
    waits(new, "staging-in", "takes no new task")
    waits(running, "staging-out", "takes no new task")
    upgrade(site)
    assert new.until_not_busy("test_data_in") == (SUCCESS, "")
    assert running.until_not_busy("test_data_out") == (SUCCESS, "")
    assert (site.lustre / "out").read_text() == "a result"
    assert (Path(new.run()["BB_JOB"]) / "in").read_text() == "an input"


def test_what_is_kept_is_tried_again_after_a_drain(site: SlurmSite) -> None:
    job = Job(site, OWN, *COPIES)
    assert job.stage_in() == (SUCCESS, "")
    (Path(job.run()["BB_JOB"]) / "out").write_text("a result")
    until(lambda: told(job, "state") == "running")
    drain(site)
    job.tear_down(hurry=True)
    [kept] = site.ask("list")["ok"]["kept"]
    assert "takes no new task" in kept["message"]
    upgrade(site)
    until(lambda: site.ask("list")["ok"]["kept"] == [])
    assert (site.lustre / "out").read_text() == "a result"


@pytest.fixture
def full(site: SlurmSite) -> SlurmSite:
    """Its database takes no more; every other file has room."""
    submit(site, MANY)
    assert site.process is not None
    limit = (MANY * 20, resource.RLIM_INFINITY)
    resource.prlimit(site.process.pid, resource.RLIMIT_FSIZE, limit)
    return site


def make_room(site: SlurmSite) -> None:
    assert site.process is not None
    limit = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(site.process.pid, resource.RLIMIT_FSIZE, limit)


def test_while_its_database_is_full_and_they_go_on_by_themselves(
    full: SlurmSite,
) -> None:
    job = Job(full, OWN, *COPIES)
    begin(job)
    waits(job, "staging-in", "the database of the service takes no more")
    make_room(full)
    assert job.until_not_busy("test_data_in") == (SUCCESS, "")
    (Path(job.run()["BB_JOB"]) / "out").write_text("a result")
    until(lambda: told(job, "state") == "running")
    resource.prlimit(full.process.pid, resource.RLIMIT_FSIZE, (MANY * 20, -1))  # type: ignore[union-attr]
    end(job)
    waits(job, "staging-out", "the database of the service takes no more")
    make_room(full)
    assert job.until_not_busy("test_data_out") == (SUCCESS, "")
    assert (full.lustre / "out").read_text() == "a result"


def test_while_no_record_of_a_job_can_be_written(site: SlurmSite) -> None:
    """Every disk of the service is full."""
    job = Job(site, OWN, *COPIES)
    jobs = site.folder / "var" / "jobs"
    begin(job)
    assert job.until_not_busy("test_data_in") == (SUCCESS, "")
    (Path(job.run()["BB_JOB"]) / "out").write_text("a result")
    until(lambda: told(job, "state") == "running")
    assert site.process is not None
    resource.prlimit(site.process.pid, resource.RLIMIT_FSIZE, (100, -1))
    before = (jobs / f"{job.id}.json").read_text()
    end(job)
    for _ in range(3):
        assert job.call("test_data_out") == (SUCCESS, "BUSY")
    assert (jobs / f"{job.id}.json").read_text() == before
    make_room(site)
    assert job.until_not_busy("test_data_out") == (SUCCESS, "")
    assert (site.lustre / "out").read_text() == "a result"
