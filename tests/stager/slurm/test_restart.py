"""The service is killed, and Slurm calls twice or late: a job goes on where it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ERROR, SERVE, SUCCESS, Job, SlurmSite, until

OWN = "jobbb capacity=2MiB pool=flash"
COPIES = ("stage_in lustre://in job://in", "stage_out job://out lustre://out")


def state(job: Job) -> str:
    path = job.site.spool / "jobs" / str(job.id)
    text = path.read_text() if path.exists() else ""
    return dict(line.split("=", 1) for line in text.splitlines()).get("state", "")


def again(site: SlurmSite) -> None:
    site.kill()
    site.serve()


def test_while_it_waits_for_room(site: SlurmSite) -> None:
    first = Job(site, "jobbb capacity=9MiB pool=flash")
    assert first.stage_in() == (SUCCESS, "")
    second = Job(site, OWN)
    second.call("setup")
    second.call("data_in")
    until(lambda: state(second) == "noted")
    again(site)
    assert second.call("test_data_in") == (SUCCESS, "BUSY")
    first.tear_down()
    assert second.until_not_busy("test_data_in") == (SUCCESS, "")


def test_while_its_data_is_copied_in_and_out(site: SlurmSite) -> None:
    site.file("in", "an input")
    job = Job(site, OWN, *COPIES)
    site.ask_control("pause")
    job.call("setup")
    job.call("data_in")
    until(lambda: state(job) == "staging-in")
    again(site)
    assert job.until_not_busy("test_data_in") == (SUCCESS, "")
    own = Path(job.run()["BB_JOB"])
    assert (own / "in").read_text() == "an input"
    (own / "out").write_text("a result")
    site.ask_control("pause")
    job.call("post_run", exit_code=0)
    job.call("data_out", exit_code=0)
    until(lambda: state(job) == "staging-out")
    again(site)
    assert job.until_not_busy("test_data_out") == (SUCCESS, "")
    assert (site.lustre / "out").read_text() == "a result"


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
        assert job.stage_in() == (SUCCESS, "")
        Path(job.run()["BB_PERSISTENT_Chain1"], "out").write_text(text)
        if text == "first":
            site.ask_control("pause")
            job.call("data_out", exit_code=0)
            record = site.folder / "var" / "jobs" / f"{job.id}.json"
            until(lambda record=record: json.loads(record.read_text())["tasks"])
            again(site)
        assert job.stage_out() == (SUCCESS, "")
        job.tear_down()
        until(lambda: not site.ask("list")["ok"]["buffers"])
        assert (site.lustre / "out").read_text() == text


def test_between_any_two_steps(site: SlurmSite) -> None:
    site.file("in", "an input")
    job = Job(site, OWN, *COPIES)
    assert job.stage_in() == (SUCCESS, "")
    again(site)
    assert job.call("test_data_in") == (SUCCESS, "")
    own = Path(job.run()["BB_JOB"])
    (own / "out").write_text("a result")
    until(lambda: state(job) == "running")
    again(site)
    assert state(job) == "running"
    assert job.stage_out() == (SUCCESS, "")
    again(site)
    assert job.call("test_data_out") == (SUCCESS, "")
    job.tear_down()
    again(site)
    until(lambda: not own.exists())
    assert (site.lustre / "out").read_text() == "a result"


def test_after_a_copy_has_failed(site: SlurmSite) -> None:
    job = Job(site, OWN, *COPIES)
    code, words = job.stage_in()
    again(site)
    assert (code, words) == job.call("test_data_in")
    assert code == ERROR
    site.file("in")
    job.tear_down(hurry=True)
    assert job.stage_in() == (SUCCESS, "")  # an administrator has released it


def test_every_note_may_come_twice(site: SlurmSite) -> None:
    site.file("in", "an input")
    job = Job(site, OWN, *COPIES)
    assert job.stage_in() == job.stage_in() == (SUCCESS, "")
    own = Path(job.run()["BB_JOB"])
    (own / "out").write_text("a result")
    assert job.run() == {"BB_JOB": str(own)}
    assert job.stage_out() == job.stage_out() == (SUCCESS, "")
    job.tear_down()
    job.tear_down()
    until(lambda: not own.exists())
    assert site.ask("list")["ok"]["kept"] == []


def test_a_job_that_is_cancelled_while_it_is_copied_gives_all_back(
    site: SlurmSite,
) -> None:
    site.file("in", "an input")
    job = Job(site, OWN, *COPIES)
    site.ask_control("pause")
    job.call("setup")
    job.call("data_in")
    until(lambda: state(job) == "staging-in")
    job.tear_down(hurry=True)
    site.ask_control("resume")
    until(lambda: list(site.bb.iterdir()) == [])
    assert site.ask("list")["ok"]["kept"] == []


def test_a_state_that_the_hooks_do_not_know_is_told_again(site: SlurmSite) -> None:
    """The spool was full when the service was started, say."""
    job = Job(site, OWN)
    assert job.stage_in() == (SUCCESS, "")
    (site.spool / "jobs" / str(job.id)).unlink()
    assert job.until_not_busy("test_data_in") == (SUCCESS, "")
    assert "BB_JOB" in job.run()


def test_a_note_of_before_a_job_began_is_no_new_job(site: SlurmSite) -> None:
    """Its note is still there: it could not be removed."""
    job = Job(site, OWN, *COPIES[1:])
    assert job.stage_in() == (SUCCESS, "")
    own = Path(job.run()["BB_JOB"])
    until(lambda: state(job) == "running")
    note = site.spool / "requests" / "0000000001.1.data_in"
    note.write_text(f"do=data_in\njob={job.id}\nuid={job.uid}\ngid={job.uid}\n\n")
    until(lambda: not note.exists())
    assert (own.exists(), state(job)) == (True, "running")
    assert site.ask("list")["ok"]["kept"] == []


def test_results_of_a_job_that_slurm_gives_up_are_saved_all_the_same(
    site: SlurmSite,
) -> None:
    """scancel while it ran: Slurm calls teardown, and no data_out."""
    site.file("in")
    job = Job(site, OWN, *COPIES)
    job.stage_in()
    own = Path(job.run()["BB_JOB"])
    (own / "out").write_text("a result")
    until(lambda: state(job) == "running")
    job.tear_down(hurry=True)
    until(lambda: not own.exists())
    assert (site.lustre / "out").read_text() == "a result"


def test_between_any_two_steps_of_a_job_without_copies(site: SlurmSite) -> None:
    """Some of its states are on no disk."""
    job = Job(site, OWN)
    assert job.stage_in() == (SUCCESS, "")
    again(site)
    own = Path(job.run()["BB_JOB"])
    until(lambda: state(job) == "running")
    again(site)
    assert own.is_dir() and state(job) == "running"
    assert job.stage_out() == (SUCCESS, "")
    again(site)
    job.tear_down()
    until(lambda: not own.exists())


def test_results_of_lines_that_are_refused_now_are_kept(site: SlurmSite) -> None:
    """An earlier version took them."""
    job = Job(site, OWN, COPIES[1])
    assert job.stage_in() == (SUCCESS, "")
    own = Path(job.run()["BB_JOB"])
    (own / "out").write_text("a result")
    until(lambda: state(job) == "running")
    site.kill()
    record = site.folder / "var" / "jobs" / f"{job.id}.json"
    known = json.loads(record.read_text())
    lines = [*known["lines"], "#BB_LUA dance"]
    record.write_text(json.dumps({**known, "lines": lines}))
    site.serve()
    job.tear_down(hurry=True)
    [kept] = site.ask("list")["ok"]["kept"]
    assert (kept["job"], kept["dests"]) == (job.id, [])
    assert "dance" in kept["message"]
    assert (own / "out").read_text() == "a result"
    assert "ok" in site.ask("discard", f"job={job.id}")
    until(lambda: not own.exists())


def test_what_no_hook_wrote_stops_no_one(site: SlurmSite) -> None:
    requests = site.spool / "requests"
    (requests / "0000000001.a").write_bytes(b"\xff\x00 garbage")
    (requests / "0000000001.b").write_text("do=teardown\njob=x\nuid=0\ngid=0\n\n")
    (requests / "0000000001.c").write_text("do=dance\njob=1\nuid=0\ngid=0\n\n")
    lines = "do=data_in\njob=7\nuid=0\ngid=0\n\n#BB_LUA stage_in ../x y\n"
    (requests / "0000000001.d").write_text(lines)
    lines = lines.replace("data_in", "data_out")
    (requests / "0000000001.e").write_text(lines)
    lines = lines.replace("data_out", "teardown")
    (requests / "0000000001.f").write_text(lines)
    os.mkfifo(requests / "0000000001.g")
    (requests / "0000000001.h").symlink_to(site.configure())
    (requests / "0000000001.folder").mkdir()
    assert Job(site, OWN).stage_in() == (SUCCESS, "")
    until(lambda: [p.name for p in requests.iterdir()] == ["0000000001.folder"])
    assert site.configure().exists()


def test_a_pool_that_is_in_use_stays_in_the_configuration(site: SlurmSite) -> None:
    words = ("name=data", "capacity=1MiB", "uuid=u1")
    assert "ok" in site.ask("create", *words)
    site.kill()
    path = site.configure()
    config = json.loads(path.read_text())
    config["slurm"]["pools"] = {"disk": config["slurm"]["pools"].pop("flash")}
    path.write_text(json.dumps(config))
    assert "flash" in refusal(path) and "data" in refusal(path)


def test_a_pool_whose_storage_is_not_mounted_is_refused(away: SlurmSite) -> None:
    """Else all would go to the disk below its mount point."""
    away.bb.rmdir()
    said = refusal(away.configure())
    assert f"pool flash: {away.bb} is no folder here; mount its storage" in said
    assert not away.bb.exists()


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_pool_into_which_users_can_write_is_refused(
    away: SlurmSite, mode: int
) -> None:
    away.bb.chmod(mode)
    assert f"{away.bb}: " in refusal(away.configure())


def refusal(config: Path) -> str:
    argv = [sys.executable, "-c", SERVE, "--site", str(config), "60"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def test_what_cannot_be_removed_keeps_no_service_from_starting(
    away: SlurmSite,
) -> None:
    """A user has mounted something in a folder of his."""
    mounted = away.bb / ".gone.job.7.0=9437184" / "mnt"  # 9 MiB
    mounted.mkdir(parents=True)
    away.before = ["unshare", "--mount", "--", "sh", "-c"]
    away.before += ['mount --bind "$0" "$0" && exec "$@"', str(mounted)]
    probe = [*away.before, "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount")
    away.serve()
    job = Job(away, OWN)
    job.call("setup")
    job.call("data_in")
    until(lambda: state(job) == "noted")  # there is no room for two more
    assert mounted.exists()
    away.kill(15)
    away.before = []
    away.serve()
    assert job.until_not_busy("test_data_in") == (SUCCESS, "")
    until(lambda: not mounted.parent.exists())
    away.kill(15)
