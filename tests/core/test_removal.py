"""Emptying a folder touches nothing outside of it, whatever lies inside."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pegasus_bb.core import removal

KEEP = "keep"


def empty(top: Path, seconds: float = 60.0) -> None:
    folder = os.open(top, os.O_RDONLY)
    try:
        removal.empty(folder, KEEP, time.monotonic() + seconds)
    finally:
        os.close(folder)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / KEEP).write_text("kept")
    return tmp_path / "top"


def left(top: Path) -> list[str]:
    return [path.name for path in top.iterdir()]


def test_files_and_folders_go_and_one_file_stays(top: Path) -> None:
    (top / "a" / "b" / "c").mkdir(parents=True)
    (top / "a" / "b" / KEEP).write_text("not this one")
    for number in range(2500):
        (top / "a" / "b" / "c" / str(number)).touch()
    os.mkfifo(top / "a" / "fifo")  # which nothing may open
    empty(top)
    assert left(top) == [KEEP]


def test_links_go_and_what_they_lead_to_stays(top: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "folder" / "data").write_text("precious")
    (top / "to-folder").symlink_to(outside)
    (top / "deep").mkdir()
    (top / "deep" / "to-file").symlink_to(outside / "folder" / "data")
    (top / "deep" / "up").symlink_to("../..")
    (top / "deep" / "hard").hardlink_to(outside / "folder" / "data")
    empty(top)
    assert left(top) == [KEEP]
    assert (outside / "folder" / "data").read_text() == "precious"


def test_a_folder_swapped_for_a_link_at_the_last_moment_is_not_entered(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "data").write_text("precious")
    (top / "swapped").symlink_to(outside)
    # It was a folder when it was looked at, just now.
    monkeypatch.setattr(removal, "_is_folder", lambda _, name: name == "swapped")
    with pytest.raises(OSError):
        empty(top)
    assert (outside / "data").read_text() == "precious"


def test_no_depth_is_too_deep(top: Path) -> None:
    here = os.open(top, os.O_RDONLY)
    for _ in range(2000):  # a path of more than PATH_MAX bytes
        os.mkdir("deeper", dir_fd=here)
        below = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    empty(top)
    assert left(top) == [KEEP]


def test_folders_that_a_task_closed_are_opened_again(top: Path) -> None:
    (top / "closed" / "inner").mkdir(parents=True)
    (top / "closed" / "inner" / "data").write_text("x")
    (top / "closed" / "inner").chmod(0)
    (top / "closed").chmod(0o500)
    empty(top)
    assert left(top) == [KEEP]


def test_a_removal_ends_in_time_and_can_go_on(top: Path) -> None:
    (top / "data").write_text("x")
    with pytest.raises(TimeoutError):
        empty(top, seconds=-1)
    assert (top / "data").exists()
    empty(top)
    assert left(top) == [KEEP]


def test_a_whole_tree_goes_and_what_it_lies_in_stays(of_a_user: Path) -> None:
    cache = of_a_user / "cache"
    (cache / "mod" / "deep").mkdir(parents=True)
    (cache / "mod" / "deep" / "f").write_text("x")
    for closed in (cache / "mod" / "deep", cache / "mod", cache):
        closed.chmod(0o555)
    (of_a_user / "link").symlink_to(cache)
    removal.remove(str(of_a_user / "link"))
    assert (cache / "mod" / "deep" / "f").exists()
    removal.remove(str(cache))
    removal.remove(str(cache))  # absent is fine
    assert left(of_a_user) == []


def test_what_cannot_go_is_named_in_full(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (top / "tree" / "deep").mkdir(parents=True)
    (top / "tree" / "deep" / "f").write_text("x")

    def refuse(name: str, dir_fd: int | None = None) -> None:
        raise PermissionError(1, "Operation not permitted", name)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refuse)
        with pytest.raises(PermissionError) as refusal:
            removal.remove(str(top / "tree"))
    assert refusal.value.filename == str(top / "tree" / "deep" / "f")


class Btrfs:
    """Lists what was in a folder when it was opened, or was last rewound."""

    def __init__(self) -> None:
        self._shown: dict[str, list[str]] = {}

    def opened(self, *words: Any, **more: Any) -> int:
        handle = OPEN(*words, **more)
        if not words[1] & os.O_PATH:
            self.rewound(handle, 0, 0)
        return handle

    def rewound(self, handle: int, to: int, whence: int) -> int:
        self._shown[str(handle)] = os.listdir(handle)
        return to

    @contextmanager
    def scanned(self, handle: int) -> Iterator[list[SimpleNamespace]]:
        there = set(os.listdir(handle))
        shown = self._shown[str(handle)]
        yield [SimpleNamespace(name=name) for name in shown if name in there]


OPEN = os.open


def test_folders_go_where_a_listing_shows_no_name_that_came_later(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (top / "a" / "b" / "c").mkdir(parents=True)
    btrfs = Btrfs()
    monkeypatch.setattr(os, "open", btrfs.opened)
    monkeypatch.setattr(os, "lseek", btrfs.rewound)
    monkeypatch.setattr(os, "scandir", btrfs.scanned)
    removal.remove(str(top))
    assert not top.exists()
