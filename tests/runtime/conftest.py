"""A site in a temporary folder, and a run with its programs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.install import install_runtime
from tests.support.private_jobs import PrivateJob
from tests.support.run_programs import Run
from tests.support.run_site import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def site_without_reservation(tmp_path: Path) -> Site:
    return Site(tmp_path, reserved=False)


@pytest.fixture
def run(tmp_path: Path, ledger: Path) -> Run:
    return Run(tmp_path)


@pytest.fixture
def given(site: Site) -> Path:
    path = site.pfs / "in.txt"
    path.write_text("input data")
    return path


@pytest.fixture
def job(site: Site) -> PrivateJob:
    return PrivateJob(site)


@pytest.fixture
def job_of_a_user(new_archives: None) -> Iterator[PrivateJob]:
    if os.getuid() != 0:
        pytest.skip("only root becomes another user")
    with tempfile.TemporaryDirectory(prefix="pegasus-bb-user-") as folder:
        Path(folder).chmod(0o755)
        site = Site(Path(folder) / "site", reserved=False)
        site.scratch.mkdir(parents=True)
        site.plan_without_buffer(site.scratch)
        job = PrivateJob(site)
        job.needs["scratch"] = str(site.scratch)
        install_runtime(str(job.site.bb), "/usr/bin/python3")
        job.note()
        for path in Path(folder).rglob("*"):
            os.chown(path, 1000, 1000, follow_symlinks=False)
        yield job
