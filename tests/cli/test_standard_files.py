"""Standard files that are closed or full, as cron and careless scripts leave them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.run.engine.conftest import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "submit")
    made.job("a")
    made.write()
    return made


def typed(words: str) -> subprocess.CompletedProcess[str]:
    line = f"exec {sys.executable} -m pegasus_bb {words}"
    argv = ["/bin/sh", "-c", line]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&- <&-"])
def test_with_closed_files_it_runs_as_ever(folder: Folder, closed: str) -> None:
    assert typed(f"run {folder.path} {closed}").returncode == 0
    assert folder.ran() == ["a"]
    log = (folder.path / "jobstate.log").read_text()
    assert all(line.split()[0].isdigit() for line in log.splitlines()), log


@pytest.mark.parametrize(
    "command, code", [("status .", 1), ("--help", 1), ("status no-such-folder", 2)]
)
def test_the_exit_code_stays_if_no_file_takes_a_word(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, command: str, code: int
) -> None:
    monkeypatch.chdir(folder.path)
    assert typed(f"{command} >/dev/full 2>/dev/full").returncode == code
