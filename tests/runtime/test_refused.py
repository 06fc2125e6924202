"""A run goes its way on file systems that refuse modes, times and hints."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.runtime.install import install_runtime
from pegasus_bb.runtime.staging import hints
from pegasus_bb.runtime.staging.folder_lfns import copy_path
from pegasus_bb.runtime.staging.writing import Writing
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
    assert not run.stands


def test_the_programs_of_a_run_can_be_started_where_modes_and_times_are_refused(
    tmp_path: Path,
) -> None:
    told = without(
        (*CHMOD, *UTIME), lambda: install_runtime(str(tmp_path), "/usr/bin/python3")
    )
    assert told.returncode == 0, told.stderr
    assert os.access(tmp_path / "bin" / "launch", os.X_OK)


def test_a_copy_is_made_where_hints_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "_SET", 9999)  # a call that no kernel knows
    (tmp_path / "from").write_text("text")
    copy_path(str(tmp_path / "from"), str(tmp_path / "to"), writing=Writing(hint=2))
    assert (tmp_path / "to").read_text() == "text"
