"""Every program is killed at its system calls, and each of these calls fails."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging.helper import load

from . import job_reservation_stories as reservation
from . import launch_stories as launch
from . import lifecycle_stories as lifecycle
from . import service_stories as service
from . import slurm_stories as slurm
from . import stage_stories as stage
from . import transfer_stories as transfer
from .sweep import Story, struck_at_calls

pytestmark = pytest.mark.usefixtures("may_trace")
STORIES: list[type[Story]] = [
    lifecycle.Setup,
    lifecycle.Gate,
    lifecycle.Delete,
    lifecycle.GoesToThePfs,
    lifecycle.StaysOnTheBuffer,
    lifecycle.GivesBackWhatCameLate,
    slurm.SetupOnSlurm,
    launch.Job,
    launch.PrivateJob,
    transfer.StageIn,
    transfer.FromTheWeb,
    transfer.StageOut,
    transfer.Folders,
    transfer.CleanUp,
    reservation.Job,
    reservation.JobOfDataWarp,
    reservation.PrivateJob,
    reservation.JobOnADisk,
    reservation.JobWithACache,
    reservation.EvacuatingJob,
    reservation.SharingJob,
    reservation.AwaitStageOut,
    stage.Copy,
    stage.PlainCopy,
    service.BufferIsMade,
    service.BufferIsDeleted,
    service.JobIsStagedIn,
    service.JobIsStagedOut,
    service.JobIsGivenUp,
    service.NumberComesAgain,
    service.KeptResultsAreDiscarded,
]


@pytest.fixture
def helper(story: type[Story]) -> None:
    if story is stage.Copy and load(digest=True) is None:
        if os.environ.get("CI") == "true" and shutil.which("cc"):
            pytest.fail("there is a compiler, but the helper was not built")
        pytest.skip("the compiled helper was not built: no compiler")


@pytest.mark.usefixtures("helper")
@pytest.mark.parametrize("story", STORIES)
def test_killed_anywhere_and_run_again(
    story: type[Story], room: Path, step: int
) -> None:
    struck_at_calls(story, room, step, refused=False)


@pytest.mark.usefixtures("helper")
@pytest.mark.parametrize("story", [each for each in STORIES if each.errors])
def test_a_disk_that_is_full_or_fails_anywhere(
    story: type[Story], room: Path, step: int
) -> None:
    struck_at_calls(story, room, step, refused=True)
