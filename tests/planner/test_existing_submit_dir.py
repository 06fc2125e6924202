"""An existing submit directory: kept, or moved aside, never under a run's feet."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import ENGINE_LOCK, write_json
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.existing_submit_dir import check_existing, move_aside
from pegasus_bb.run.engine import lock
from pegasus_bb.run.engine.lock import lock_submit_dir
from pegasus_bb.runtime.backends.backend_table import open_backend


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run0001"
    (folder / "bb").mkdir(parents=True)
    (folder / "braindump.yml").write_text("user: me\n")
    return folder


def test_force_moves_it_to_the_first_free_name(run: Path) -> None:
    (run.parent / "run0001.001").mkdir()
    with pytest.raises(UsageError, match="--force moves it aside"):
        check_existing(run, force=False)
    check_existing(run, force=True)
    assert move_aside(run).name == "run0001.002"
    assert not run.exists()


def test_a_folder_that_is_no_submit_directory_is_never_moved(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1").write_text("")
    with pytest.raises(UsageError, match="no submit directory"):
        check_existing(tmp_path / "thesis", force=True)


@pytest.mark.parametrize("force", [False, True])
def test_what_a_killed_planning_left_may_be_removed(run: Path, force: bool) -> None:
    (run / "braindump.yml").unlink()
    with pytest.raises(UsageError, match="nothing ran there"):
        check_existing(run, force=force)


@pytest.mark.parametrize("trace", ["demo-0.dag", "bb/reservation.json"])
def test_a_folder_that_may_have_run_is_not_called_removable(
    run: Path, trace: str
) -> None:
    (run / "braindump.yml").unlink()
    (run / trace).write_text("")
    with pytest.raises(UsageError, match="no submit directory"):
        check_existing(run, force=True)


def test_a_run_that_is_going_on_is_never_moved(run: Path) -> None:
    handle = os.open(run / ENGINE_LOCK, os.O_CREAT | os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(UsageError, match="is going on"):
        check_existing(run, force=True)
    with pytest.raises(UsageError, match="began while this was planned"):
        move_aside(run)
    os.close(handle)
    check_existing(run, force=True)
    assert move_aside(run).name == "run0001.001"


def test_an_engine_that_comes_while_a_run_is_moved_goes_away(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has opened the lock, and gets it when the folder has another name."""
    real = lock._try_lock

    def taken(handle: int) -> bool:
        move_aside(run)
        run.mkdir()
        return real(handle)

    monkeypatch.setattr(lock, "_try_lock", taken)
    with (
        pytest.raises(UsageError, match="has just taken its place"),
        lock_submit_dir(run / ENGINE_LOCK),
    ):
        raise AssertionError("the engine works in the place of another run")


def test_a_run_that_has_lost_its_notes_but_not_its_reservation_stays(
    run: Path, tmp_path: Path
) -> None:
    (tmp_path / "fast").mkdir()
    request = Request(
        name="pbbabc",
        backend="directory",
        capacity=1 << 20,
        prefix="/bb/pbbabc",
        uuid="u",
        tier="bb",
        site="cluster",
        settings={"path": str(tmp_path / "fast")},
    )
    write_json(str(run / "bb" / "request.json"), request.to_json())
    check_existing(run, force=True)
    open_backend("directory", request.settings).create(request)
    with pytest.raises(UsageError, match=r"pbbabc, which is ready.*--discard"):
        check_existing(run, force=True)


def test_a_run_that_dagman_works_on_is_never_moved(run: Path) -> None:
    dagman = run / "w-0.dag.lock"
    dagman.touch()
    with pytest.raises(UsageError, match="DAGMan works in"):
        check_existing(run, force=True)
    dagman.unlink()
    check_existing(run, force=True)
