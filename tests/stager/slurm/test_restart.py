"""The service is killed, and Slurm calls twice or late: a job goes on where it was."""

from __future__ import annotations

from pathlib import Path

from tests.support.slurm_job import COPIES, OWN, STAGE_OUT, Job
from tests.support.slurm_stager import SUCCESS, SlurmSite
from tests.support.waiting import until, until_gone

from .shared import service, site

__all__ = ["service", "site"]


def test_while_it_waits_for_room(site: SlurmSite) -> None:
    first = Job(site, "jobbb capacity=9MiB pool=flash")
    first.stage_in()
    second = Job(site, OWN)
    second.begin()
    second.until_in("noted")
    site.serve_again()
    assert second.is_busy("in")
    first.tear_down()
    second.until_staged("in")
    assert second.call("real_size") == (SUCCESS, str(2 << 20))


def test_while_its_data_is_copied_in_and_out(site: SlurmSite) -> None:
    site.file("in", "an input")
    job = Job(site, OWN, *COPIES)
    site.pause()
    job.begin()
    job.until_in("staging-in")
    site.serve_again()
    job.until_staged("in")
    own = job.runs_in()
    assert (own / "in").read_text() == "an input"
    (own / "out").write_text("a result")
    site.pause()
    job.end()
    job.until_in("staging-out")
    site.serve_again()
    job.until_staged("out")
    assert site.saved == "a result"


def test_a_later_job_with_the_same_lines_has_copies_of_its_own(
    site: SlurmSite,
) -> None:
    """The first one's was under way when the service was started."""
    lines = (
        "persist store Chain1 size=1MiB",
        "stage_out bb://Chain1/out lustre://out",
        "persist delete Chain1",
    )
    for text in ("first", "second"):
        job = Job(site, *lines)
        job.stage_in()
        Path(job.run()["BB_PERSISTENT_Chain1"], "out").write_text(text)
        if text == "first":
            site.pause()
            job.call("data_out", exit_code=0)
            until(lambda number=job.id: site.record(number)["tasks"])
            site.serve_again()
        job.stage_out()
        job.tear_down()
        until(lambda: not site.rows_of("buffers"))
        assert site.saved == text


def test_every_note_may_come_twice(site: SlurmSite) -> None:
    site.file("in", "an input")
    job = Job(site, OWN, *COPIES)
    job.stage_in()
    job.stage_in()
    own = job.runs_in()
    (own / "out").write_text("a result")
    assert job.run() == {"BB_JOB": str(own)}
    job.stage_out()
    job.stage_out()
    for _ in range(2):  # slurmctld was started anew, and begins again at post_run
        job.tear_down()
        job.stage_out()
    assert site.saved == "a result"
    until_gone(own)
    assert site.kept == []


def test_a_job_that_is_cancelled_while_it_is_copied_gives_all_back(
    site: SlurmSite,
) -> None:
    site.file("in", "an input")
    job = Job(site, OWN, *COPIES)
    site.pause()
    job.begin()
    job.until_in("staging-in")
    job.tear_down(hurry=True)
    site.resume()
    until(lambda: list(site.bb.iterdir()) == [])
    assert site.kept == []


def test_a_state_that_the_hooks_do_not_know_is_told_again(site: SlurmSite) -> None:
    """The spool was full when the service was started, say."""
    job = Job(site, OWN)
    job.stage_in()
    (site.spool / "jobs" / str(job.id)).unlink()
    job.until_staged("in")
    assert "BB_JOB" in job.run()


def test_a_note_of_before_a_job_began_is_no_new_job(site: SlurmSite) -> None:
    """Its note is still there: it could not be removed."""
    job = Job(site, OWN, STAGE_OUT)
    own = job.compute()
    note = site.spool / "requests" / "0000000001.1.data_in"
    note.write_text(f"do=data_in\njob={job.id}\nuid={job.uid}\ngid={job.uid}\n\n")
    until_gone(note)
    assert (own.exists(), job.known()) == (True, "running")
    assert site.kept == []


def test_a_pool_that_is_in_use_stays_in_the_configuration(
    fresh_site: SlurmSite,
) -> None:
    words = ("name=data", "capacity=1MiB", "uuid=u1")
    assert "ok" in fresh_site.ask("create", *words)
    fresh_site.kill()
    pools = fresh_site.config["slurm"]["pools"]
    pools["disk"] = pools.pop("flash")
    said = fresh_site.refusal()
    assert "flash" in said and "data" in said


def test_a_pool_whose_storage_is_not_mounted_is_refused(away: SlurmSite) -> None:
    """Else all would go to the disk below its mount point."""
    away.bb.rmdir()
    said = away.refusal()
    assert f"pool flash: {away.bb} is no folder here; mount its storage" in said
    assert not away.bb.exists()


def test_a_pool_into_which_users_can_write_is_refused(away: SlurmSite) -> None:
    away.bb.chmod(0o775)
    assert f"{away.bb}: " in away.refusal()
