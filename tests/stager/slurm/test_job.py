"""A job with its own buffer, from job_process to teardown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import ERROR, SUCCESS, Job, SlurmSite, until

OWN = "jobbb capacity=2MiB pool=flash"


def free(site: SlurmSite) -> int:
    [pool] = site.ask("list")["ok"]["pools"]
    return int(pool["free"]) >> 20


def test_it_gets_its_inputs_and_its_results_are_saved(site: SlurmSite) -> None:
    site.file("in.txt", "an input")
    directives = (
        "stage_in lustre://in.txt job://in.txt",
        f"stage_out job://out {site.lustre}/out",
    )
    job = Job(site, OWN, *directives)
    assert job.stage_in() == (SUCCESS, "")
    own = Path(job.run()["BB_JOB"])
    assert (own / "in.txt").read_text() == "an input"
    assert free(site) == 8
    (own / "out").mkdir()
    (own / "out" / "a").write_text("a result")
    assert job.stage_out() == (SUCCESS, "")
    job.tear_down()
    assert (site.lustre / "out" / "a").read_text() == "a result"
    until(lambda: free(site) == 10)
    assert list(site.bb.iterdir()) == []


def test_a_result_that_could_go_nowhere_fails_before_the_job_computes(
    site: SlurmSite,
) -> None:
    job = Job(site, OWN, "stage_out job://out /etc/out")
    code, words = job.stage_in()
    assert code == ERROR
    assert "/etc/out is below none of" in words
    job.tear_down(hurry=True)
    until(lambda: free(site) == 10)


def test_an_input_that_is_missing_fails_the_stage_in_with_words(
    site: SlurmSite,
) -> None:
    job = Job(site, OWN, "stage_in lustre://absent job://in.txt")
    code, words = job.stage_in()
    assert code == ERROR
    assert "lustre://absent: " in words and "No such file" in words
    job.tear_down(hurry=True)
    until(lambda: free(site) == 10)


def test_a_result_that_cannot_be_saved_is_kept_and_saved_later(site: SlurmSite) -> None:
    (site.lustre / "out").mkdir()
    (site.lustre / "out" / "in the way").touch()
    job = Job(site, OWN, "stage_out job://out lustre://out")
    job.stage_in()
    own = Path(job.run()["BB_JOB"])
    (own / "out").write_text("a result")
    code, words = job.stage_out()
    assert code == ERROR and f"job.{job.id}/out" in words
    job.tear_down()
    [kept] = site.ask("list")["ok"]["kept"]
    assert (kept["job"], kept["path"]) == (job.id, str(own))
    assert (own / "out").read_text() == "a result"
    (site.lustre / "out" / "in the way").unlink()
    (site.lustre / "out").rmdir()
    site.kill()
    site.serve()
    until(lambda: site.ask("list")["ok"]["kept"] == [])
    assert (site.lustre / "out").read_text() == "a result"
    until(lambda: free(site) == 10)


def test_kept_results_are_discarded_by_their_user_only(site: SlurmSite) -> None:
    job = Job(site, OWN, "stage_out job://absent lustre://out")
    job.stage_in()
    own = Path(job.run()["BB_JOB"])
    assert job.stage_out()[0] == ERROR
    job.tear_down()
    other = site.ask("discard", f"job={job.id}", uid=61001)
    assert other["error"]["code"] == "not-kept"
    assert own.exists()
    assert site.ask("discard", f"job={job.id}") == {"ok": {"discarded": 1}}
    until(lambda: not own.exists())


def test_a_failed_job_need_not_have_made_all_results(site: SlurmSite) -> None:
    copies = ("stage_out job://log lustre://log", "stage_out job://out lustre://out")
    job = Job(site, OWN, *copies)
    job.stage_in()
    (Path(job.run()["BB_JOB"]) / "log").write_text("why")
    assert job.stage_out(exit_code=768) == (SUCCESS, "")
    assert (site.lustre / "log").read_text() == "why"


def test_a_missing_destination_is_no_missing_result(site: SlurmSite) -> None:
    """A file system that is not mounted: the job failed, and its log is there."""
    job = Job(site, OWN, "stage_out job://log lustre://log")
    job.stage_in()
    (Path(job.run()["BB_JOB"]) / "log").write_text("why")
    elsewhere = site.lustre.rename(site.folder / "elsewhere")
    code, words = job.stage_out(exit_code=768)
    assert code == ERROR and f"{site.lustre}: No such file" in words
    job.tear_down()
    elsewhere.rename(site.lustre)
    site.kill()
    site.serve()  # which tries again at once
    until(lambda: (site.lustre / "log").exists())


def test_it_waits_for_room_and_gets_it_when_another_ends(site: SlurmSite) -> None:
    first = Job(site, "jobbb capacity=7MiB pool=flash")
    assert first.stage_in() == (SUCCESS, "")
    second = Job(site, "jobbb capacity=7MiB pool=flash")
    second.call("setup")
    second.call("data_in")
    until(lambda: (site.spool / "jobs" / str(second.id)).exists())
    assert second.call("test_data_in") == (SUCCESS, "BUSY")
    first.tear_down()
    assert second.until_not_busy("test_data_in") == (SUCCESS, "")
    assert second.call("real_size") == (SUCCESS, str(7 << 20))


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
    assert job.until_not_busy("test_data_in") == (SUCCESS, "")
    job.tear_down(hurry=True)
    for hook in ("setup", "data_in", "test_data_in"):
        assert job.call(hook, job_state=cancelled) == (SUCCESS, "")
    assert after.stage_in() == (SUCCESS, "")  # the service has looked since
    assert not list(site.spool.glob("requests/*"))
    until(lambda: [path.name for path in site.bb.iterdir()] == [f"job.{after.id}"])


def test_more_than_the_pool_has_is_said(site: SlurmSite) -> None:
    code, words = Job(site, "jobbb capacity=11MiB pool=flash").stage_in()
    assert code == ERROR and "more than pool flash has" in words


def test_while_the_service_is_away_everything_waits(site: SlurmSite) -> None:
    site.kill()
    job = Job(site, OWN, f"stage_out job://out {site.lustre}/out")
    assert job.call("setup") == job.call("data_in") == (SUCCESS, "")
    assert job.call("test_data_in") == (SUCCESS, "BUSY")
    site.serve()
    assert job.until_not_busy("test_data_in") == (SUCCESS, "")
    own = Path(job.run()["BB_JOB"])
    (own / "out").write_text("a result")
    site.kill()
    job.call("post_run", exit_code=0)
    job.call("data_out", exit_code=0)
    assert job.call("test_data_out") == (SUCCESS, "BUSY")
    site.serve()
    assert job.until_not_busy("test_data_out") == (SUCCESS, "")
    assert (site.lustre / "out").read_text() == "a result"
    job.tear_down()
    until(lambda: not own.exists())


def test_a_job_that_leaves_nothing_waits_for_no_word_at_its_end(
    site: SlurmSite,
) -> None:
    job = Job(site, OWN)
    assert job.stage_in() == (SUCCESS, "")
    own = Path(job.run()["BB_JOB"])
    site.kill()
    assert job.call("data_out", exit_code=0) == (SUCCESS, "")
    assert job.call("test_data_out") == (SUCCESS, "")
    assert job.call("data_out", burst_buffer=None) == (SUCCESS, "")  # it may want more
    assert job.call("test_data_out", burst_buffer=None) == (SUCCESS, "BUSY")
    assert own.is_dir()
    site.serve()
    job.tear_down()
    until(lambda: not own.exists())


def test_slurm_starts_anew_in_the_middle_of_a_stage_out(site: SlurmSite) -> None:
    """It begins again at post_run, also for a job that it tore down before."""
    job = Job(site, OWN, "stage_out job://out lustre://out")
    job.stage_in()
    (Path(job.run()["BB_JOB"]) / "out").write_text("a result")
    assert job.stage_out() == job.stage_out() == (SUCCESS, "")
    job.tear_down()
    assert job.stage_out() == (SUCCESS, "")
    job.tear_down()
    assert (site.lustre / "out").read_text() == "a result"


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


def test_it_does_not_start_unless_the_service_hears_of_it(site: SlurmSite) -> None:
    """Else its results were removed if it is cancelled, as data of a job that has not
    begun."""
    job = Job(site, OWN, "stage_out job://out lustre://out")
    job.stage_in()
    with_no_room(site.spool)
    code, words = job.call("pre_run")
    assert code == ERROR and "cannot be told that the job starts" in words


def test_a_stage_out_of_which_the_service_did_not_hear_is_not_over(
    site: SlurmSite,
) -> None:
    job = Job(site, OWN, "stage_out job://out lustre://out")
    job.stage_in()
    (Path(job.run()["BB_JOB"]) / "out").write_text("a result")
    until(lambda: "state=running" in (site.spool / "jobs" / str(job.id)).read_text())
    requests = with_no_room(site.spool)
    assert job.call("data_out", exit_code=0) == (SUCCESS, "")
    (site.spool / "jobs" / f"{job.id}.asked").unlink()  # neither could be written
    assert job.call("test_data_out") == (SUCCESS, "BUSY")
    (site.spool / "requests").unlink()
    requests.rename(site.spool / "requests")
    assert job.until_not_busy("test_data_out") == (SUCCESS, "")
    assert (site.lustre / "out").read_text() == "a result"


def with_no_room(spool: Path) -> Path:
    """No note can be written any more, by root neither; where the folder is now."""
    aside = (spool / "requests").rename(spool / "aside")
    (spool / "requests").touch()
    return aside


def test_a_state_of_before_the_question_is_no_answer(site: SlurmSite) -> None:
    """The service hears of data_out between two looks of test_data_out."""
    job = Job(site, OWN, "stage_out job://out lustre://out")
    job.stage_in()
    (Path(job.run()["BB_JOB"]) / "out").write_text("a result")
    until(lambda: "state=running" in (site.spool / "jobs" / str(job.id)).read_text())
    site.kill()
    job.call("data_out", exit_code=0)
    hooks = site.hooks
    hooks.lua(
        """
        local open = io.open
        function io.open(path, mode)
            local file = open(path, mode)
            local job = path:match("(.*/jobs/%d+)")
            if job then os.remove(job .. ".asked") end
            return file
        end
        """
    )
    words = (job.id, job.script, job.uid, job.uid, {"burst_buffer": job.lines})
    assert hooks.call("test_data_out", *words) == (SUCCESS, "BUSY")


@pytest.mark.parametrize("lua", ["lua51", "lua52", "lua53", "lua54"])
@pytest.mark.parametrize("kind", [float, str])
def test_each_lua_will_do_and_numbers_as_slurm_gives_them(
    site: SlurmSite, lua: str, kind: Any
) -> None:
    """Slurm gives numbers as floats or as strings, and has the Lua of the site."""
    site.file("in")
    site.lua = lua
    copies = ("stage_in lustre://in job://in", "stage_out job://in lustre://out")
    job = Job(site, OWN, *copies)
    number = str(job.id)
    job.id, job.uid = kind(job.id), kind(job.uid)
    info = {"burst_buffer": job.lines, "array_job_id": 0.0}
    words = (job.script, job.uid, job.uid, info)
    assert site.hooks.call("job_process", *words) == (SUCCESS, "")
    assert job.call("setup", start_time=1.7e9) == (SUCCESS, "")
    assert job.stage_in() == (SUCCESS, "")
    assert (Path(job.run()["BB_JOB"]) / "in").exists()
    assert job.stage_out(exit_code=kind(0)) == (SUCCESS, "")
    job.tear_down()
    assert (site.lustre / "out").exists()
    assert [path.name for path in (site.spool / "jobs").iterdir()] == [number]
    assert site.ask("list", uid=job.uid)["ok"]["kept"] == []


def test_a_job_that_slurm_has_forgotten_gives_its_room_back(site: SlurmSite) -> None:
    job = Job(site, OWN, "stage_out job://out lustre://out")
    job.stage_in()
    (Path(job.run()["BB_JOB"]) / "out").write_text("a result")
    assert job.stage_out() == (SUCCESS, "")
    site.kill()
    record = site.folder / "var" / "jobs" / f"{job.id}.json"
    known = json.loads(record.read_text())
    record.write_text(json.dumps({**known, "changed_at": known["changed_at"] - 31}))
    site.serve()
    until(lambda: free(site) == 10)
    assert (site.lustre / "out").read_text() == "a result"


def test_a_long_reason_is_cut_for_squeue(site: SlurmSite) -> None:
    names = [f"lustre://{'x' * 250}/{'y/' * 700}{n}" for n in range(3)]
    job = Job(
        site, OWN, *(f"stage_in {name} job://{n}" for n, name in enumerate(names))
    )
    code, words = job.stage_in()
    assert code == ERROR and "No such file" in words
    assert len(words) < 1100
