"""Slurm cancels a job that has not begun, and kills its teardown."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest

from .conftest import SUCCESS, Job, SlurmSite, until

OWN = "jobbb capacity=2MiB pool=flash"


@pytest.fixture
def away(away: SlurmSite, monkeypatch: pytest.MonkeyPatch) -> SlurmSite:
    """Its squeue says what is in the file squeue.out."""
    away.tidies_every = 0.02
    folder = away.folder / "bin"
    folder.mkdir()
    program = folder / "squeue"
    asked = f"echo >> {away.folder}/asked"
    lines = ("#!/bin/sh", asked, '[ "$SQUEUE_USERS" ] ||', f"cat {said(away)}")
    program.write_text("\n".join(lines))
    program.chmod(0o755)
    said(away).touch()
    monkeypatch.setenv("SQUEUE_USERS", "another")  # the service asks for all jobs
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return away


def said(site: SlurmSite) -> Path:
    return site.folder / "squeue.out"


def wait_long(site: SlurmSite, *jobs: Job) -> None:
    """They have not changed for eleven minutes."""
    site.kill()
    for job in jobs:
        record = site.folder / "var" / "jobs" / f"{job.id}.json"
        known = json.loads(record.read_text())
        changed = {"changed_at": known["changed_at"] - 660}
        record.write_text(json.dumps({**known, **changed}))
    site.serve()


def staged_in(site: SlurmSite, count: int) -> list[Job]:
    site.file("in")
    jobs = [Job(site, OWN, "stage_in lustre://in job://in") for _ in range(count)]
    for job in jobs:
        assert job.stage_in() == (SUCCESS, "")
    return jobs


def folders(site: SlurmSite) -> set[str]:
    return {path.name for path in site.bb.iterdir() if path.name.startswith("job.")}


def test_its_space_comes_back(site: SlurmSite) -> None:
    waits, cancelled, purged, new = staged_in(site, 4)
    said(site).write_text(f"{waits.id} PENDING \n{cancelled.id} CANCELLED \n")
    wait_long(site, waits, purged)
    until(lambda: folders(site) == {f"job.{waits.id}", f"job.{new.id}"})
    assert Path(waits.run()["BB_JOB"]).is_dir()
    for job in (cancelled, purged):
        job.tear_down(hurry=True)  # which may come all the same


@pytest.mark.parametrize("answer", ["down", "slurm_load_jobs error: no answer"])
def test_without_an_answer_of_slurm_all_stays(site: SlurmSite, answer: str) -> None:
    [job] = staged_in(site, 1)
    said(site).unlink() if answer == "down" else said(site).write_text(answer)
    wait_long(site, job)
    asked = site.folder / "asked"
    until(lambda: asked.exists() and asked.stat().st_size > 1)
    assert Path(job.run()["BB_JOB"]).is_dir()


def test_a_job_that_ran_is_over_only_where_slurm_says_so(site: SlurmSite) -> None:
    """As after scancel --hurry while the spool was full. Its results are saved."""
    cancelled, unknown = (
        Job(site, OWN, f"stage_out job://out lustre://{name}") for name in "ab"
    )
    for job in (cancelled, unknown):
        assert job.stage_in() == (SUCCESS, "")
        (Path(job.run()["BB_JOB"]) / "out").write_text("result")
    for job in (cancelled, unknown):
        told = site.spool / f"jobs/{job.id}"
        until(lambda told=told: "state=running" in told.read_text())
    said(site).write_text(f"{cancelled.id} CANCELLED\n")
    until(lambda: folders(site) == {f"job.{unknown.id}"})
    assert (site.lustre / "a").read_text() == "result"
    unknown.tear_down(hurry=True)


def test_one_that_had_a_node_is_not_taken_for_one_that_never_began(
    site: SlurmSite,
) -> None:
    """The note of its start cannot be heeded: the disk of the service is full."""
    ran, never_began = staged_in(site, 2)
    lines = f"{ran.id} CANCELLED node1\n{never_began.id} CANCELLED \n"
    said(site).write_text(lines)
    wait_long(site, ran)
    until(lambda: folders(site) == {f"job.{ran.id}"})
    asked = site.folder / "asked"
    before = asked.stat().st_size
    until(lambda: asked.stat().st_size > before + 1)
    assert folders(site) == {f"job.{ran.id}"}


def asked_twice_more(site: SlurmSite) -> None:
    """Back when squeue was asked, and its answer was heard."""
    asked = site.folder / "asked"
    before = asked.stat().st_size if asked.exists() else 0
    until(lambda: asked.exists() and asked.stat().st_size > before + 1)


def test_one_whose_start_cannot_be_heeded_keeps_its_results(site: SlurmSite) -> None:
    """The disk of the service is full; Slurm has forgotten the job."""
    [job] = staged_in(site, 1)
    said(site).write_text(f"{job.id} PENDING \n")
    wait_long(site, job)
    assert site.process is not None
    resource.prlimit(site.process.pid, resource.RLIMIT_FSIZE, (100, -1))
    job.run()
    said(site).write_text("")
    asked_twice_more(site)
    assert folders(site) == {f"job.{job.id}"}


def test_one_that_waits_for_room_is_forgotten_too(site: SlurmSite) -> None:
    first, second = (Job(site, "jobbb capacity=8MiB pool=flash") for _ in range(2))
    assert first.stage_in() == (SUCCESS, "")
    record = site.folder / "var" / "jobs" / f"{second.id}.json"
    second.call("setup")
    until(record.exists)
    written = record.stat().st_mtime_ns
    said(site).write_text(f"{first.id} PENDING \n{second.id} PENDING \n")
    asked_twice_more(site)
    assert record.stat().st_mtime_ns == written  # it costs no disk a write each time
    said(site).write_text(f"{first.id} PENDING \n")
    wait_long(site, second)
    until(lambda: not record.exists())


@pytest.mark.sweep
def test_after_a_question_without_an_answer_squeue_is_soon_asked_again(
    site: SlurmSite,
) -> None:
    site.kill()
    site.tidies_every = 8  # seconds: asked each 16, and 4 after a failure
    site.serve()
    [job] = staged_in(site, 1)
    job.run()
    told = site.spool / f"jobs/{job.id}"
    until(lambda: "state=running" in told.read_text())
    said(site).write_text("slurm_load_jobs error: no answer")
    until((site.folder / "asked").exists)
    said(site).write_text(f"{job.id} CANCELLED node1\n")
    until(lambda: not folders(site))


def test_a_job_that_runs_keeps_what_it_has(site: SlurmSite) -> None:
    running, cancelled = staged_in(site, 2)
    own = Path(running.run()["BB_JOB"])
    until(lambda: "state=running" in (site.spool / f"jobs/{running.id}").read_text())
    wait_long(site, running, cancelled)
    until(lambda: folders(site) == {own.name})


@pytest.mark.parametrize(
    "state",
    [
        "staged-in",
        *(pytest.param(s, marks=pytest.mark.sweep) for s in ("running", "failed-in")),
    ],
)
def test_one_that_waits_for_its_room_does_not_wait_for_long(
    site: SlurmSite, state: str
) -> None:
    """Half a minute, where four pass else: here 4 s for 32."""
    site.kill()
    site.tidies_every = 8
    site.serve()
    lines = ["jobbb capacity=8MiB pool=flash"]
    if state == "failed-in":
        lines.append("stage_in lustre://nothing job://in")
    lost = Job(site, *lines)
    waits = Job(site, lines[0])
    assert (lost.stage_in()[0] == SUCCESS) == (state != "failed-in")
    if state == "running":
        lost.run()
    told = site.spool / f"jobs/{lost.id}"
    until(lambda: f"state={state}" in told.read_text())
    said(site).write_text(f"{lost.id} CANCELLED\n{waits.id} PENDING\n")
    assert waits.stage_in() == (SUCCESS, "")
    assert folders(site) == {f"job.{waits.id}"}


def test_a_buffer_that_is_deleted_does_not_wait_for_long(site: SlurmSite) -> None:
    """The job that uses it was cancelled: here, too, 4 s for 32."""
    site.kill()
    site.tidies_every = 8
    site.serve()
    words = ("name=data", "capacity=2MiB", "uuid=u1")
    assert site.ask("create", *words)["ok"]["buffer"]["state"] == "ready"
    lost = Job(site, "persist use data")
    assert lost.stage_in() == (SUCCESS, "")
    lost.run()
    told = site.spool / f"jobs/{lost.id}"
    until(lambda: "state=running" in told.read_text())
    assert site.ask("delete", "name=data")["ok"]["buffer"]["state"] == "deleting"
    said(site).write_text(f"{lost.id} CANCELLED\n")
    until(lambda: site.ask("status", "name=data")["ok"]["buffer"] is None)
