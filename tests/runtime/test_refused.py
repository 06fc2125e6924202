"""A run goes its way on file systems that refuse modes and times."""

from __future__ import annotations

import os
from pathlib import Path

from pegasus_bb.runtime.install import install_runtime
from pegasus_bb.runtime.programs.record import run_recorded
from pegasus_bb.runtime.stream_hints import run_with_hints
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


def test_a_task_is_started_where_its_program_cannot_be_made_executable(
    tmp_path: Path,
) -> None:
    argv = ["-X", "-l", str(tmp_path / "record"), "/bin/true"]
    told = without(CHMOD, lambda: run_recorded(argv, dict(os.environ)))
    assert told.returncode == 0, told.stderr
    assert "regular_exitcode: 0" in (tmp_path / "record").read_text()


def test_an_output_without_bytes_is_no_result_where_times_are_refused(
    tmp_path: Path,
) -> None:
    output = tmp_path / "output"
    told = without(UTIME, lambda: run_with_hints({str(output): 2}, lambda: 0))
    assert told.returncode == 0 and not output.exists()
