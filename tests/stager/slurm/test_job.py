"""A job with its own buffer, from job_process to teardown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.slurm_job import OWN, STAGE_IN, STAGE_OUT, Job
from tests.support.slurm_stager import ERROR, SUCCESS, SlurmSite
from tests.support.waiting import until, until_gone

from .shared import service, site

__all__ = ["service", "site"]


def test_it_gets_its_inputs_and_its_results_are_saved(site: SlurmSite) -> None:
    site.file("in.txt", "an input")
    directives = (
        "stage_in lustre://in.txt job://in.txt",
        f"stage_out job://out {site.lustre}/out",
    )
    job = Job(site, OWN, *directives)
    own = job.compute()
    assert (own / "in.txt").read_text() == "an input"
    assert site.free == 8
    (own / "out").mkdir()
    (own / "out" / "a").write_text("a result")
    job.stage_out()
    job.tear_down()
    assert (site.lustre / "out" / "a").read_text() == "a result"
    site.until_free()
    assert list(site.bb.iterdir()) == []


LONG = [f"stage_in lustre://{'x' * 250}/{'y/' * 700}{n} job://{n}" for n in range(3)]


NEVER = [
    ([OWN, "stage_in lustre://absent job://in"], "No such file"),
    ([OWN, "stage_out job://out /etc/out"], "/etc/out is below none of"),
    (["jobbb capacity=11MiB pool=flash"], "more than pool flash has"),
    (["jobbb capacity=1MiB pool=disk"], "no pool disk; this site has flash"),
    ([OWN, *LONG], "No such file"),
]


def test_a_job_that_cannot_be_staged_in_says_why_before_it_computes(
    site: SlurmSite,
) -> None:
    """In so few words that squeue shows them."""
    for lines, why in NEVER:
        job = Job(site, *lines)
        words = job.fail()
        assert why in words and len(words) < 1100
        job.tear_down(hurry=True)
        site.until_free()


def test_a_result_that_cannot_be_saved_is_kept_and_saved_later(site: SlurmSite) -> None:
    site.block()
    job = Job(site, OWN, STAGE_OUT)
    own = job.compute("a result")
    words = job.fail_to_save()
    assert f"job.{job.id}/out" in words
    job.tear_down()
    [kept] = site.kept
    assert (kept["job"], kept["path"]) == (job.id, str(own))
    assert (own / "out").read_text() == "a result"
    site.let_pass()
    site.serve_again()
    until(lambda: site.kept == [])
    assert site.saved == "a result"
    site.until_free()


def test_kept_results_are_discarded_by_their_user_only(site: SlurmSite) -> None:
    job = Job(site, OWN, "stage_out job://absent lustre://out")
    own = job.compute()
    job.fail_to_save()
    job.tear_down()
    other = site.ask("discard", f"job={job.id}", uid=61001)
    assert other["error"]["code"] == "not-kept"
    assert own.exists()
    assert site.ask("discard", f"job={job.id}") == {"ok": {"discarded": 1}}
    until_gone(own)


def test_a_failed_job_need_not_have_made_all_results(site: SlurmSite) -> None:
    copies = ("stage_out job://log lustre://log", STAGE_OUT)
    job = Job(site, OWN, *copies)
    job.stage_in()
    (job.runs_in() / "log").write_text("why")
    job.stage_out(exit_code=768)
    assert (site.lustre / "log").read_text() == "why"


def test_a_missing_destination_is_no_missing_result(site: SlurmSite) -> None:
    """A file system that is not mounted: the job failed, and its log is there."""
    job = Job(site, OWN, "stage_out job://log lustre://log")
    job.stage_in()
    (job.runs_in() / "log").write_text("why")
    elsewhere = site.lustre.rename(site.folder / "elsewhere")
    words = job.fail_to_save(exit_code=768)
    assert f"{site.lustre}: No such file" in words
    job.tear_down()
    elsewhere.rename(site.lustre)
    site.kill()
    site.serve()  # which tries again at once
    until(lambda: (site.lustre / "log").exists())


def test_a_cancelled_job_does_not_come_back_when_slurm_asks_after_it(
    site: SlurmSite,
) -> None:
    """Slurm goes on with the hooks of a stage-in after the job's teardown."""
    # with a flag, as it completes
    pending = 0
    cancelled = 0x8004
    job = Job(site, OWN)
    after = Job(site, OWN)
    for hook in ("setup", "data_in"):
        assert job.call(hook, job_state=pending) == (SUCCESS, "")
    job.until_staged("in")
    job.tear_down(hurry=True)
    for hook in ("setup", "data_in", "test_data_in"):
        assert job.call(hook, job_state=cancelled) == (SUCCESS, "")
    after.stage_in()  # the service has looked since
    assert not list(site.spool.glob("requests/*"))
    until(lambda: [path.name for path in site.bb.iterdir()] == [f"job.{after.id}"])


def test_while_the_service_is_away_everything_waits(site: SlurmSite) -> None:
    site.kill()
    job = Job(site, OWN, f"stage_out job://out {site.lustre}/out")
    job.begin()
    assert job.is_busy("in")
    site.serve()
    job.until_staged("in")
    own = job.runs_in()
    (own / "out").write_text("a result")
    site.kill()
    job.end()
    assert job.is_busy("out")
    site.serve()
    job.until_staged("out")
    assert site.saved == "a result"
    job.tear_down()
    until_gone(own)


def test_a_job_that_leaves_nothing_waits_for_no_word_at_its_end(
    site: SlurmSite,
) -> None:
    job = Job(site, OWN)
    own = job.compute()
    site.kill()
    assert job.call("data_out", exit_code=0) == (SUCCESS, "")
    assert job.call("test_data_out") == (SUCCESS, "")
    assert job.call("data_out", burst_buffer=None) == (SUCCESS, "")  # it may want more
    assert job.call("test_data_out", burst_buffer=None) == (SUCCESS, "BUSY")
    assert own.is_dir()
    site.serve()
    job.tear_down()
    until_gone(own)


def test_it_does_not_run_before_its_data_is_there(site: SlurmSite) -> None:
    job = Job(site, OWN, "stage_in lustre://absent job://in.txt")
    code, words = job.call("pre_run")
    assert code == ERROR and "not staged in" in words
    path_file = str(site.folder / "no" / "such" / "path")
    site.file("absent")
    job.stage_in()
    where = (job.id, job.script, path_file, job.uid, job.uid, {})
    code, words = site.hooks.call("paths", *where)
    assert code == ERROR and "cannot be written" in words
    code, _ = site.hooks.call("paths", job.id, job.script, None, job.uid, job.uid)
    assert code == ERROR


@pytest.mark.parametrize(("lua", "kind"), [("lua51", str), ("lua54", float)])
def test_each_lua_will_do_and_numbers_as_slurm_gives_them(
    fresh_site: SlurmSite, lua: str, kind: Any
) -> None:
    """Slurm gives numbers as floats or as strings, and has the Lua of the site."""
    fresh_site.file("in")
    fresh_site.lua = lua
    copies = (STAGE_IN, "stage_out job://in lustre://out")
    job = Job(fresh_site, OWN, *copies)
    number = str(job.id)
    job.id, job.uid = kind(job.id), kind(job.uid)
    info = {"burst_buffer": job.lines, "array_job_id": 0.0}
    words = (job.script, job.uid, job.uid, info)
    assert fresh_site.hooks.call("job_process", *words) == (SUCCESS, "")
    assert job.call("setup", start_time=1.7e9) == (SUCCESS, "")
    job.stage_in()
    assert (job.runs_in() / "in").exists()
    job.stage_out(exit_code=kind(0))
    job.tear_down()
    assert (fresh_site.lustre / "out").exists()
    assert [path.name for path in (fresh_site.spool / "jobs").iterdir()] == [number]
    assert fresh_site.ask("list", uid=job.uid)["ok"]["kept"] == []


def test_a_job_that_slurm_has_forgotten_gives_its_room_back(site: SlurmSite) -> None:
    job = Job(site, OWN, STAGE_OUT)
    job.compute("a result")
    job.stage_out()
    site.age(31, job.id)
    site.until_free()
    assert site.saved == "a result"
