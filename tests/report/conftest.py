"""What the tests of reports share."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Problem
from pegasus_bb.report.darshan_counters import read_logs
from tests.report.sample_runs import LOGGED


@pytest.fixture(scope="session")
def pydarshan() -> None:
    """PyDarshan with its C library; its wheels for Python up to 3.12 bring one."""
    some = next(LOGGED.rglob("*.darshan"))
    for entry in read_logs([some]):
        if isinstance(entry, Problem) and "libdarshan-util" in entry.why:
            pytest.skip(f"PyDarshan cannot be used: {entry.why}")
