"""One service for all tests of a file: each leaves it as it has found it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.slurm_job import Job
from tests.support.slurm_stager import SlurmSite
from tests.support.waiting import until


@pytest.fixture(scope="module")
def service() -> Iterator[SlurmSite]:
    folder = Path(tempfile.mkdtemp(prefix="pegasus-bb-service-"))
    service = SlurmSite(folder)
    service.serve()
    yield service
    service.end()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def site(service: SlurmSite) -> Iterator[SlurmSite]:
    Job.made.clear()
    yield service
    service.resume()
    for job in Job.made:
        job.tear_down(hurry=True)
    for kept in service.rows_of("kept", uid=0):
        service.ask("discard", f"job={kept['job']}", uid=kept["uid"])
    for buffer in service.rows_of("buffers"):
        service.ask("delete", f"name={buffer['name']}", uid=buffer["uid"])
    until(lambda: service.free == 10 and not list(service.bb.iterdir()))
    shutil.rmtree(service.lustre)
    service.lustre.mkdir()
