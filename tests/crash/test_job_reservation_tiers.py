"""A job whose own place is on a private reservation, on a disk of its node beside what
all jobs share, or on the PFS because that disk is full: killed anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.report.elsewhere import elsewhere
from pegasus_bb.runtime.job_reservation.planned import landing_of
from tests.runtime.job_reservation_site import NODE, JobSite

from .injector import Traced
from .sweep import Story, killed_at_calls, refused_at_calls
from .test_job_reservation import ERRORS, Job, JobOnADisk, SharingJob, noted

pytestmark = pytest.mark.usefixtures("may_trace")


class PrivateJob(Job):
    """The space is the batch system's, what is in it was brought by launch."""

    backend = "datawarp/private"

    def check_tier(self) -> None:
        left_to_slurm(self)


class PrivateSharingJob(SharingJob):
    """Mode hybrid: a striped reservation for all, a private one for this job."""

    backend = "datawarp/private"

    def check_tier(self) -> None:
        left_to_slurm(self)


def left_to_slurm(told: Job) -> None:
    """Nobody else gives it back, and the ledger knows nothing of it."""
    assert [p.name for p in told.site.fast.iterdir()] == ["run"]
    assert told.ledger() == []


class SharingJobOnADisk(SharingJob):
    """Mode hybrid, with job reservations on a second tier (--bb-job-tier)."""

    backend = "node-local"

    def check_tier(self) -> None:
        assert list(self.site.fast.iterdir()) == []
        assert [p.name for p in self.there.base.parent.iterdir() if p.is_dir()] == [
            self.there.base.name
        ]


class JobOnAFullDisk(JobOnADisk):
    """It works on the PFS, and that is written before the task has begun. Each time it
    is another try of its node, as DAGMan has it."""

    tries = 0

    def planned(self, root: Path) -> JobSite:
        site = super().planned(root)
        site.reserve(capacity=1 << 60)
        return site

    def run(self, strike_at: int = 0, error: int = 0) -> Traced:
        self.tries += 1
        return super().run(strike_at, error)

    @property
    def environ(self) -> dict[str, str]:
        return {**super().environ, "CONDOR_JOBID": f"{self.tries}.0"}

    def results(self) -> Path:
        return Path(landing_of(str(self.site.scratch), NODE, f"{self.tries}.0"))

    def check_left(self) -> None:
        super().check_left()
        away, problems = elsewhere(self.site.bb.parent)
        assert problems == ()
        if noted(self.site) or list(self.site.scratch.rglob("run/out.txt")):
            assert [each.node for each in away] == [NODE]

    def check_tier(self) -> None:
        assert list(self.site.fast.iterdir()) == []

    def check_done(self) -> None:
        super().check_done()
        assert [p.name for p in self.results().parent.iterdir()] == [f"{self.tries}.0"]
        note = json.loads((self.site.bb / f"elsewhere/{NODE}.json").read_text())
        assert note["job"] == f"{self.tries}.0"
        assert "this job needs" in note["because"]


STORIES = [PrivateJob, PrivateSharingJob, SharingJobOnADisk, JobOnAFullDisk]


@pytest.mark.parametrize("story", STORIES)
def test_killed_anywhere_and_run_again(
    story: type[Story], room: Path, step: int
) -> None:
    killed_at_calls(story, room, step)


@pytest.mark.parametrize("story", STORIES)
def test_a_disk_that_is_full_or_fails_anywhere(
    story: type[Story], room: Path, step: int
) -> None:
    refused_at_calls(story, room, step, ERRORS)
