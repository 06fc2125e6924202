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

needs_shared_memory = pytest.mark.skipif(
    not os.access("/dev/shm", os.W_OK), reason="this machine has no shared memory"
)


def test_the_folder_of_another_is_not_removed(folders: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")

    with pytest.raises(folders.DemoError, match="was not made by the demo"):
        folders.fresh_folder(tmp_path)

    assert (tmp_path / "thesis.tex").exists()


def test_a_link_in_its_place_is_not_followed(folders: Any, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "demo").symlink_to(tmp_path / "home")

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


def test_another_demos_tier_is_left_alone(folders: Any, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    folders.fresh_folder(one)
    storage = folders.fast_storage(one, 1 << 20)

    folders.fresh_folder(other)

    assert storage.path.exists()
    folders.remove_storage(storage)
    assert not storage.path.exists()


def test_without_room_in_memory_both_tiers_are_the_same_disk(
    folders: Any, tmp_path: Path
) -> None:
    demo = tmp_path / "demo"
    folders.fresh_folder(demo)

    storage = folders.fast_storage(demo, 1 << 60)

    assert storage.same_disk
    assert storage.path.parent == demo
    assert "on the same disk (/dev/shm has no room for" in storage.what


@needs_shared_memory
@pytest.mark.parametrize(
    ("mounts", "available", "room"),
    [
        ("tmpfs /dev/shm tmpfs rw 0 0\n", 0, False),
        ("/dev/sda1 /dev/shm ext4 rw 0 0\n", 1 << 20, False),
        ("tmpfs /dev/shm tmpfs rw 0 0\n", 1 << 20, True),
    ],
)
def test_shared_memory_counts_where_it_is_memory_and_there_is_some(
    folders: Any, tmp_path: Path, mounts: str, available: int, room: bool
) -> None:
    (tmp_path / "mounts").write_text(mounts)
    (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {available} kB\n")
    machine = tmp_path / "mounts", tmp_path / "meminfo"

    assert (folders.shared_memory_room(*machine) > 0) is room


def test_results_are_compared_to_the_byte(folders: Any, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "same.txt").write_text("same")
    assert folders.differences(one, other) == []

    (one / "only.txt").write_text("x")
    (other / "deep" / "same.txt").write_text("sane")

    assert folders.differences(one, other) == [
        "deep/same.txt has other bytes",
        f"only.txt is only in {one}",
    ]
    assert folders.differences(tmp_path / "a", tmp_path / "b") == [
        f"there is no file in {tmp_path / 'a'} nor in {tmp_path / 'b'}"
    ]


def test_inputs_are_read_and_what_runs_have_made_is_not(
    folders: Any, tmp_path: Path
) -> None:
    for name, size in (("data", 100), ("pfs", 1000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * size)

    assert folders.read_once(tmp_path, {"pfs"}) == 100


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


def test_a_tier_that_a_demo_still_uses_stays(
    folders: Any, left_over: Callable[[int], Path]
) -> None:
    path = left_over(os.getpid())

    assert folders.remove_left_overs() == [
        f"{path} stays: a demo is at it (process {os.getpid()})"
    ]
    assert path.exists()


def test_tiers_of_other_checkouts_and_unmarked_folders_stay(
    folders: Any, left_over: Callable[[int], Path], gone: int, tmp_path: Path
) -> None:
    path = left_over(gone)
    folders.CHECKOUT = tmp_path / "another"
    (path.parent / f"pegasus-bb-demo-{os.getuid()}-mine").mkdir()

    assert folders.remove_left_overs() == []
    assert len(list(path.parent.iterdir())) == 2


def test_a_demos_marker_says_whose_it_is(folders: Any, tmp_path: Path) -> None:
    storage = folders.fast_storage(tmp_path, 1 << 20)

    facts = json.loads((storage.path / folders.MARKER).read_bytes())

    folders.remove_storage(storage)
    assert facts["checkout"] == str(Path(__file__).parent.parent.parent)
    assert facts["pid"] == os.getpid()
