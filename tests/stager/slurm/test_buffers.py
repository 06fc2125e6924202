"""Persistent buffers: asked for by scontrol, and by directives of jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.slurm_job import Job
from tests.support.slurm_stager import SUCCESS, SlurmSite
from tests.support.stager import ME
from tests.support.waiting import until, until_gone

from .shared import service, site

__all__ = ["service", "site"]

OTHER = 61001


def create(
    site: SlurmSite,
    name: str = "data",
    size: str = "3MiB",
    uuid: str = "u1",
    **who: int,
) -> Any:
    words = (f"name={name}", f"capacity={size}", f"uuid={uuid}")
    return site.ask("create", *words, **who)


def test_it_is_made_shown_and_deleted(site: SlurmSite) -> None:
    made = create(site)["ok"]["buffer"]
    assert (made["state"], made["size"], made["uid"]) == ("ready", 3 << 20, ME)
    assert Path(made["path"]).is_dir()
    assert site.ask("status", "name=data")["ok"]["buffer"] == made
    shown = site.ask("list")["ok"]
    assert shown["buffers"] == [made]
    assert shown["pools"][0]["free"] == 7 << 20
    assert site.ask("delete", "name=data", "uuid=u1")["ok"]["buffer"]["name"] == "data"
    until(lambda: site.ask("status", "name=data") == {"ok": {"buffer": None}})
    assert site.ask("delete", "name=data") == {"ok": {"buffer": None}}
    assert list(site.bb.iterdir()) == []
    assert site.free == 10


def test_a_person_gets_pools_and_buffers_as_lines(site: SlurmSite) -> None:
    create(site)
    code, text = site.hooks.call("get_status", ME, ME, "table")
    assert code == SUCCESS
    pool = text.splitlines()[1]
    assert " ".join(pool.split()) == "flash 10.0 MiB 7.0 MiB 10.0 MiB"
    row = text.splitlines()[-1].split()
    assert (row[0], row[2:]) == ("data", ["flash", "3.0", "MiB", "ready"])


def test_asked_again_it_is_the_same_also_after_a_restart(site: SlurmSite) -> None:
    made = create(site)
    site.serve_again()
    assert create(site) == made
    assert create(site, uuid="u2")["error"]["code"] == "taken"
    assert site.ask("delete", "name=data", "uuid=u2")["error"]["code"] == "taken"


def test_another_user_gets_neither_the_name_nor_the_buffer(site: SlurmSite) -> None:
    create(site)
    assert create(site, uid=OTHER)["error"]["code"] == "taken"
    assert site.ask("delete", "name=data", uid=OTHER)["error"]["code"] == "not-yours"
    job = Job(site, "persist use data", uid=OTHER)
    words = job.fail()
    assert "persist share" in words


def test_those_for_which_there_is_no_room_wait_in_their_order(site: SlurmSite) -> None:
    create(site, "first", "8MiB")
    assert create(site, "second", "6MiB")["ok"]["buffer"]["state"] == "pending"
    assert create(site, "third", "1MiB")["ok"]["buffer"]["state"] == "pending"
    site.ask("delete", "name=first")
    until(lambda: site.ask("status", "name=second")["ok"]["buffer"]["state"] == "ready")
    assert site.ask("status", "name=third")["ok"]["buffer"]["state"] == "ready"


NO_SENSE = [
    (["create", "name=x;id", "capacity=1MiB", "uuid=u"], "bad-name"),
    (["create", "name=../../etc", "capacity=1MiB", "uuid=u"], "bad-name"),
    (["create", "name=data", "capacity=1MiB"], "bad-request"),
    (["create", "name=data", "capacity=some", "uuid=u"], "bad-request"),
    (["create", "name=data", "capacity=11MiB", "uuid=u"], "too-large"),
    (["create", "name=data", "capacity=1MiB", "uuid=u", "pool=x"], "no-pool"),
    (["create", "name=data", "name=data"], "bad-request"),
    (["create", "uid=0"], "bad-request"),
    (["destroy", "name=data"], "bad-request"),
    (["status", "data\nuid=0"], "bad-request"),
    ([], "bad-request"),
    (["discard", "job=x"], "bad-request"),
    (["create", "name=data", "capacity=1MiB", f"uuid={'x' * 101}"], "bad-request"),
]


def test_what_makes_no_sense_is_refused(site: SlurmSite) -> None:
    for words, code in NO_SENSE:
        assert site.ask(*words)["error"]["code"] == code
    assert site.rows_of("buffers") == []


def test_a_job_that_failed_deletes_nothing(site: SlurmSite) -> None:
    create(site)
    job = Job(site, "persist use data", "persist delete data")
    job.stage_in()
    job.run()
    job.stage_out(exit_code=256)
    job.tear_down()
    assert site.ask("status", "name=data")["ok"]["buffer"]["state"] == "ready"


def test_slurm_is_told_what_the_pools_have(site: SlurmSite) -> None:
    create(site)
    code, text = site.hooks.call("pools")
    assert code == SUCCESS
    assert '"quantity": 10' in text and '"free": 7' in text


def test_more_questions_than_bells_at_once_are_asked_again(
    fresh_site: SlurmSite,
) -> None:
    for bell in (fresh_site.spool / "bells").glob("*.free"):
        bell.rename(bell.with_suffix(".taken"))
    assert fresh_site.ask("list")["error"]["code"] == "busy"


def test_a_buffer_that_a_job_uses_goes_when_the_job_has_ended(site: SlurmSite) -> None:
    path = Path(create(site)["ok"]["buffer"]["path"])
    job = Job(site, "persist use data", "stage_out bb://data/a lustre://a")
    job.stage_in()
    job.run()
    (path / "a").write_text("a result")
    assert site.ask("delete", "name=data")["ok"]["buffer"]["state"] == "deleting"
    late = Job(site, "persist use data")
    late.fail()
    site.serve_again()
    job.stage_out()
    assert (site.lustre / "a").read_text() == "a result"
    job.tear_down()
    until_gone(path)
