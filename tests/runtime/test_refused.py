"""A run goes its way on file systems that refuse modes and times."""

from __future__ import annotations

import os
from pathlib import Path

from pegasus_bb.runtime.install import install_runtime
from tests.support.refused import CHMOD, without
from tests.support.run_programs import Run

UTIME = ("utime", "utimes", "futimesat", "utimensat")


def test_a_directory_tier_grants_and_releases_where_modes_are_refused(
    run: Run,
) -> None:
    def lifecycle() -> int:
        os.umask(0o077)
        return run.setup() or run.gate() or run.delete()

    told = without(CHMOD, lifecycle)
    assert "is ready" in told.stderr and "was given back" in told.stderr
    assert "warning" not in told.stderr
    assert not run.folder().exists()


def test_the_programs_of_a_run_can_be_started_where_modes_and_times_are_refused(
    tmp_path: Path,
) -> None:
    told = without(
        (*CHMOD, *UTIME), lambda: install_runtime(str(tmp_path), "/usr/bin/python3")
    )
    assert told.returncode == 0, told.stderr
    assert os.access(tmp_path / "bin" / "launch", os.X_OK)
