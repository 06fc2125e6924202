"""Slurm cancels a job that has not begun, and kills its teardown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.slurm_job import OWN, STAGE_IN, Job
from tests.support.slurm_stager import SlurmSite
from tests.support.waiting import until

LONG = 660  # seconds for which a job has not changed


@pytest.fixture
def away(away: SlurmSite) -> SlurmSite:
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
    away.environ["SQUEUE_USERS"] = "another"  # the service asks for all jobs
    away.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
    return away


def said(site: SlurmSite) -> Path:
    return site.folder / "squeue.out"


def staged_in(site: SlurmSite, count: int) -> list[Job]:
    site.file("in")
    jobs = [Job(site, OWN, STAGE_IN) for _ in range(count)]
    for job in jobs:
        job.stage_in()
    return jobs


def folders(site: SlurmSite) -> set[str]:
    return {path.name for path in site.bb.iterdir() if path.name.startswith("job.")}


def test_its_space_comes_back(site: SlurmSite) -> None:
    waits, cancelled, purged, new = staged_in(site, 4)
    said(site).write_text(f"{waits.id} PENDING \n{cancelled.id} CANCELLED \n")
    site.age(LONG, waits.id, purged.id)
    until(lambda: folders(site) == {f"job.{waits.id}", f"job.{new.id}"})
    assert waits.runs_in().is_dir()
    for job in (cancelled, purged):
        job.tear_down(hurry=True)  # which may come all the same


def test_without_an_answer_of_slurm_all_stays(site: SlurmSite) -> None:
    [job] = staged_in(site, 1)
    said(site).write_text("slurm_load_jobs error: no answer")
    site.age(LONG, job.id)
    asked = site.folder / "asked"
    until(lambda: asked.exists() and asked.stat().st_size > 1)
    assert job.runs_in().is_dir()


def asked_twice_more(site: SlurmSite) -> None:
    """Back when squeue was asked, and its answer was heard."""
    asked = site.folder / "asked"
    before = asked.stat().st_size if asked.exists() else 0
    until(lambda: asked.exists() and asked.stat().st_size > before + 1)


def test_one_whose_start_cannot_be_heeded_keeps_its_results(site: SlurmSite) -> None:
    """The disk of the service is full; Slurm has forgotten the job."""
    [job] = staged_in(site, 1)
    said(site).write_text(f"{job.id} PENDING \n")
    site.age(LONG, job.id)
    site.limit_files(100)
    job.run()
    said(site).write_text("")
    asked_twice_more(site)
    assert folders(site) == {f"job.{job.id}"}
