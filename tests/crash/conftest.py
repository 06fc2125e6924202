"""Where nothing may be traced, these tests are skipped by name (CI=true: they fail)."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .injector import run_traced, skip_where_nothing_can_be_traced
from .ptrace import NotPermitted

MEMORY = Path("/dev/shm")
NEEDED = 1 << 28
# primes: they step over the two or three kinds of errors, too
SOME = 47
MANY = 17


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    """Memory, where files can be: after SIGKILL it holds what a disk would, and a
    thousand runs wait for none of their fsyncs."""
    found = os.statvfs(MEMORY) if os.access(MEMORY, os.W_OK) else None
    if found is None or found.f_flag & os.ST_NOEXEC or _free(found) < NEEDED:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="pegasus-bb-crash-", dir=MEMORY) as folder:
        yield Path(folder)


def _free(found: os.statvfs_result) -> int:
    return found.f_bavail * found.f_frsize


@pytest.fixture
def step(request: pytest.FixtureRequest) -> int:
    if request.config.getoption("every_call"):
        return 1
    return MANY if request.config.getoption("thorough") else SOME


@pytest.fixture(scope="session")
def may_trace() -> None:
    """This machine lets a program be stopped before its system calls."""
    with tempfile.TemporaryDirectory() as folder:
        script = f"open({folder + '/x'!r}, 'w')"
        try:
            done = run_traced([sys.executable, "-IS", "-c", script], Path(folder))
        except NotPermitted as error:
            skip_where_nothing_can_be_traced(error)
            return
        if len(done.calls) != 1:
            why = NotPermitted(f"calls are not seen: {done}")
            skip_where_nothing_can_be_traced(why)
