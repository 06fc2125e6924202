"""An existing submit directory: kept, or moved aside, never under a run's feet."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from pegasus_bb.errors import UsageError
from pegasus_bb.files import ENGINE_LOCK
from pegasus_bb.planner.aside import check_aside, move_aside


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run0001"
    (folder / "bb").mkdir(parents=True)
    (folder / "braindump.yml").write_text("user: me\n")
    return folder


def test_without_force_it_stays(run: Path) -> None:
    with pytest.raises(UsageError, match="--force moves it aside"):
        check_aside(run, force=False)


def test_force_moves_it_to_the_first_free_name(run: Path) -> None:
    (run.parent / "run0001.001").mkdir()
    check_aside(run, force=True)
    assert move_aside(run).name == "run0001.002"
    assert not run.exists()


def test_a_folder_that_is_no_submit_directory_is_never_moved(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1").write_text("")
    with pytest.raises(UsageError, match="no submit directory"):
        check_aside(tmp_path / "thesis", force=True)


def test_a_run_that_is_going_on_is_never_moved(run: Path) -> None:
    handle = os.open(run / ENGINE_LOCK, os.O_CREAT | os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(UsageError, match="is going on"):
        check_aside(run, force=True)
    os.close(handle)
    check_aside(run, force=True)


def test_a_run_that_dagman_works_on_is_never_moved(run: Path) -> None:
    lock = run / "w-0.dag.lock"
    lock.touch()
    with pytest.raises(UsageError, match="DAGMan works in"):
        check_aside(run, force=True)
    lock.unlink()
    check_aside(run, force=True)
