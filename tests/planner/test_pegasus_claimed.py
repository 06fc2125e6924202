"""A submit directory that is ours alone, or gone again."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.planner.pegasus.exclusive_folder import claim


def test_a_full_disk_is_told_and_nothing_stays(tmp_path: Path) -> None:
    submit = tmp_path / "submit"
    foreign = tmp_path / "submit" / "user" / "pegasus"
    told = pytest.raises(UsageError, match="r cannot be written: No space left")
    with told, claim(submit / "r", force=False, runs=foreign):
        foreign.mkdir(parents=True)
        Path("/dev/full").write_bytes(b"x")
    assert not submit.exists()


def test_what_others_have_put_there_stays(tmp_path: Path) -> None:
    other = tmp_path / "submit" / "user" / "pegasus" / "run0001"
    with (
        pytest.raises(ZeroDivisionError),
        claim(tmp_path / "submit" / "r", force=False, runs=other.parent),
    ):
        other.mkdir(parents=True)
        assert 1 / 0
    assert other.exists()
    assert not (tmp_path / "submit" / "r").exists()


def test_an_empty_folder_is_taken_and_not_moved_aside(tmp_path: Path) -> None:
    """As by the built-in planner."""
    folder = tmp_path / "r"
    folder.mkdir()
    with claim(folder, force=False, runs=tmp_path):
        (folder / "file").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["r", "file"]


def test_an_empty_folder_stays_if_planning_fails(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    told = pytest.raises(ZeroDivisionError)
    with told, claim(folder, force=False, runs=tmp_path):
        assert 1 / 0
    assert [path.name for path in tmp_path.rglob("*")] == ["r"]
