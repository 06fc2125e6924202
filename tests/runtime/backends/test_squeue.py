"""One question to squeue tells what `scontrol show job` would tell of each job."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.runtime.backends.scontrol import SpaceJob
from pegasus_bb.runtime.backends.squeue import parse_queue

RECORDED = Path(__file__).parents[2] / "recorded"
SLURMS = ("slurm-24.11", "slurm-22.05")
UUID = "4f1c2a9e-0000-4000-8000-000000000001"


def answer(slurm: str) -> str:
    return (RECORDED / slurm / "squeue-format.txt").read_text()


@pytest.fixture(params=SLURMS)
def jobs(request: pytest.FixtureRequest) -> dict[str, SpaceJob]:
    return {job.id: job for job in parse_queue(answer(request.param))}


def test_a_job_has_its_user_and_run(jobs: dict[str, SpaceJob]) -> None:
    assert (jobs["4"].user, jobs["4"].uid, jobs["4"].comment) == ("wfuser", 1000, UUID)
    assert (jobs["8"].user, jobs["8"].uid) == ("other", 1001)
    assert jobs["5"].comment == ""


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("2", "create_persistent: dwsd: no space left on any server: 507"),
        ("3", "create_persistent: Duplicate buffer name"),
    ],
)
def test_a_request_that_slurm_holds_says_why_in_one_line(
    jobs: dict[str, SpaceJob], number: str, message: str
) -> None:
    assert jobs[number].held
    assert jobs[number].message.endswith(message)
