"""The demo's folders: which it makes, and which it may remove."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_the_folder_of_another_is_not_removed(folders: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")

    with pytest.raises(folders.DemoError, match="was not made by the demo"):
        folders.fresh_folder(tmp_path)

    assert (tmp_path / "thesis.tex").exists()
    (tmp_path / "demo").symlink_to(tmp_path)
    with pytest.raises(folders.DemoError, match="is not a folder"):
        folders.fresh_folder(tmp_path / "demo")


def test_an_old_demo_goes_with_what_it_left_on_fast_storage(
    folders: Any, tmp_path: Path
) -> None:
    demo = tmp_path / "demo"
    folders.fresh_folder(demo)
    storage = folders.fast_storage(demo, 1 << 20)
    (storage.path / "left over").write_text("x")

    folders.fresh_folder(demo)

    assert not storage.path.exists()
    assert [path.name for path in demo.iterdir()] == [folders.MARKER]


@pytest.fixture
def left_over(
    folders: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], Path]:
    """Makes a tier of a demo in a checkout that is this test's own."""
    monkeypatch.setattr(folders, "CHECKOUT", tmp_path)
    monkeypatch.setattr(folders, "SHARED_MEMORY", tmp_path / "shm")
    (tmp_path / "shm").mkdir()

    def make(pid: int) -> Path:
        path = tmp_path / "shm" / f"pegasus-bb-demo-{os.getuid()}-{pid}"
        path.mkdir()
        facts = {"checkout": str(folders.CHECKOUT), "pid": pid}
        (path / folders.MARKER).write_text(json.dumps(facts))
        return path

    return make


@pytest.fixture
def gone() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        return ended.pid


def test_what_a_demo_left_over_is_removed_and_named(
    folders: Any, left_over: Callable[[int], Path], gone: int
) -> None:
    path = left_over(gone)

    assert folders.remove_left_overs() == [f"{path} is removed"]
    assert not path.exists()
