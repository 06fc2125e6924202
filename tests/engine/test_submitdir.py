"""A folder that is no submit directory: what would do is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.engine.submitdir import find_submit_dir
from pegasus_bb.errors import UsageError


def a_run(folder: Path, age: int) -> Path:
    folder.mkdir(parents=True)
    (folder / "w-0.dag").touch()
    os.utime(folder, (10_000 - age, 10_000 - age))
    return folder


def refusal(folder: Path) -> list[str]:
    with pytest.raises(UsageError) as caught:
        find_submit_dir(folder)
    return str(caught.value).splitlines()


def test_the_base_of_all_runs_names_the_newest(tmp_path: Path) -> None:
    labels = tmp_path / "user" / "pegasus"
    runs = [a_run(labels / "w" / f"run000{n}", age=n) for n in (4, 2, 3)]
    newest = a_run(labels / "other" / "run0001", age=1)
    told = refusal(tmp_path)
    assert "found: none; below it are, newest first:" in told[0]
    assert told[1:] == [f"  {folder}" for folder in (newest, runs[1], runs[2])]


def test_an_empty_folder_is_told_how_to_plan(tmp_path: Path) -> None:
    assert refusal(tmp_path)[0].endswith("plan one with pegasus-bb plan")


def test_the_look_is_bounded(tmp_path: Path) -> None:
    a_run(tmp_path.joinpath(*"abcdef"), age=1)
    (tmp_path / "up").symlink_to("/")
    assert refusal(tmp_path)[0].endswith("plan one with pegasus-bb plan")
    wide = tmp_path / "wide"
    for number in range(1000):
        (wide / f"{number:04d}").mkdir(parents=True)
    a_run(wide / "zzzz" / "run0001", age=1)
    assert len(refusal(wide)) == 1


def test_two_dags_are_both_named(tmp_path: Path) -> None:
    a_run(tmp_path / "below", age=1)
    for name in ("one.dag", "two.dag"):
        (tmp_path / name).touch()
    assert "found: one.dag, two.dag; plan one" in refusal(tmp_path)[0]
