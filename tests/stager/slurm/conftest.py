"""The service with Slurm's part, and burst_buffer.lua called as Slurm calls it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.slurm_stager import SlurmSite


@pytest.fixture
def away(tmp_path: Path) -> SlurmSite:
    """The service was never started."""
    return SlurmSite(tmp_path)


@pytest.fixture
def fresh_site(away: SlurmSite) -> Iterator[SlurmSite]:
    """A site of the test alone, where others of its file share one."""
    away.serve()
    yield away
    away.end()


@pytest.fixture
def site(away: SlurmSite) -> Iterator[SlurmSite]:
    away.serve()
    yield away
    away.end()
