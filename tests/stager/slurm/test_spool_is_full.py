"""The disk of the spool takes no more, or the clock is set: each job goes on later."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.slurm_job import OWN, STAGE_IN, STAGE_OUT, Job
from tests.support.slurm_stager import ERROR, SUCCESS, SlurmSite
from tests.support.waiting import until, until_gone

from .shared import service, site

__all__ = ["service", "site"]

COPIES = (STAGE_IN, "stage_out job://in lustre://out")


@contextmanager
def no_room_in(folder: Path) -> Iterator[None]:
    """Nothing can be written there, by root neither."""
    aside = folder.rename(folder.with_name("aside"))
    folder.touch()
    yield
    folder.unlink()
    aside.rename(folder)


def test_a_job_that_leaves_nothing_ends_when_the_service_can_be_told(
    site: SlurmSite,
) -> None:
    """Else the service would keep its space for ever."""
    job = Job(site, OWN)
    own = job.compute()
    with no_room_in(site.spool / "requests"):
        assert job.call("data_out", exit_code=0) == (SUCCESS, "")
        assert job.is_busy("out")
    assert job.call("test_data_out") == (SUCCESS, "")
    job.tear_down()
    until_gone(own)


def test_a_state_that_cannot_be_told_is_told_later(site: SlurmSite) -> None:
    site.file("in", "an input")
    job = Job(site, OWN, *COPIES)
    site.pause()
    job.begin()
    job.until_in("staging-in")
    with no_room_in(site.spool / "jobs"):
        site.resume()
        until(lambda: recorded(site, job) == "staged-in")
    job.until_staged("in")


def recorded(site: SlurmSite, job: Job) -> str:
    return str(site.record(job.id)["state"])


def test_a_job_does_not_start_unless_the_service_is_told(site: SlurmSite) -> None:
    """Else its results were removed if it is cancelled, as data of a job that has not
    begun."""
    job = Job(site, OWN, STAGE_OUT)
    job.stage_in()
    with no_room_in(site.spool / "requests"):
        code, words = job.call("pre_run")
    assert code == ERROR and "cannot be told that the job starts" in words


def test_a_stage_out_that_the_service_is_not_told_of_is_not_over(
    site: SlurmSite,
) -> None:
    job = Job(site, OWN, STAGE_OUT)
    job.compute("a result")
    with no_room_in(site.spool / "requests"):
        assert job.call("data_out", exit_code=0) == (SUCCESS, "")
        (site.spool / "jobs" / f"{job.id}.asked").unlink()  # neither could be written
        assert job.is_busy("out")
    job.until_staged("out")
    assert site.saved == "a result"


def test_a_service_is_away_also_where_the_clock_was_set_back(
    fresh_site: SlurmSite,
) -> None:
    fresh_site.kill()
    (fresh_site.spool / "alive").write_text(f"{int(time.time()) + 3600}\n")
    for bell in (fresh_site.spool / "bells").iterdir():
        bell.unlink()  # a question that is asked now would wait for ever
    assert fresh_site.ask("list")["error"]["code"] == "away"
