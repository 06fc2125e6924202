"""Where nothing may be traced, these tests are skipped by name (CI=true: they fail)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from .injector import run_traced, skip_where_nothing_can_be_traced
from .ptrace import NotPermitted


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
