"""A tree arrives as docs/staging.md says, with and without the compiled helper."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pegasus_bb.core.removal import remove
from pegasus_bb.runtime.staging.folder_links import HardLinks
from tests.support.trees import depth, make_deep

from .conftest import TwoTrees

pytestmark = pytest.mark.usefixtures("copier")


def modes(root: Path) -> dict[str, int]:
    paths = sorted(root.rglob("*"))
    return {
        str(path.relative_to(root)): stat.S_IMODE(path.lstat().st_mode)
        for path in paths
        if not path.is_symlink()
    }


def contents(root: Path) -> dict[str, bytes | str | None]:
    found: dict[str, bytes | str | None] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = str(path.readlink())
        else:
            found[name] = path.read_bytes() if path.is_file() else None
    return found


def test_everything_arrives_with_its_mode(trees: TwoTrees) -> None:
    trees.write("a.txt", "first").chmod(0o640)
    trees.write("deep/er/run.sh", "#!/bin/sh\n").chmod(0o755)
    trees.write("deep/empty", "").chmod(0o444)
    trees.write("large", os.urandom((3 << 20) + 17)).chmod(0o600)
    (trees.source / "nothing in it").mkdir(mode=0o750)
    (trees.source / "link").symlink_to("deep/er/run.sh")
    (trees.source / "dangling").symlink_to("/nowhere")
    stage = trees.stage()
    assert trees.failures == []
    assert contents(trees.dest) == contents(trees.source)
    assert modes(trees.dest) == modes(trees.source)
    assert (stage.files, stage.folders, stage.links) == (4, 3, 2)
    assert trees.parts() == []


def test_a_hostile_name_is_only_a_name(trees: TwoTrees, hostile: str) -> None:
    trees.write(hostile, "data")
    trees.write(f"in/{hostile}/{hostile}", "more")
    trees.stage()
    assert trees.failures == []
    assert contents(trees.dest) == contents(trees.source)


def test_holes_stay_holes(trees: TwoTrees) -> None:
    with trees.write("sparse", b"begin").open("r+b") as out:
        out.seek(64 << 20)
        out.write(b"end")
    os.truncate(trees.source / "sparse", 100 << 20)
    trees.stage()
    copy = (trees.dest / "sparse").stat()
    assert copy.st_size == 100 << 20
    assert copy.st_blocks * 512 < 1 << 20
    with (trees.dest / "sparse").open("rb") as text:
        assert text.read(5) == b"begin"
        text.seek(64 << 20)
        assert text.read(4) == b"end\0"


def test_further_names_of_a_file_that_did_not_arrive_are_left(trees: TwoTrees) -> None:
    """What has the first name there may be anything."""
    first = trees.write("a", os.urandom(9 << 20))
    os.link(first, trees.source / "b")
    trees.dest.mkdir()
    (trees.dest / "a").write_text("mine")
    (trees.dest / "b").write_text("yours")

    def spoil(size: int) -> None:
        with first.open("ab") as out:
            out.write(b"more")

    trees.stage(tell=spoil)
    assert len(trees.failures) == 2
    assert "is to be another name of" in trees.failures[1]
    assert contents(trees.dest) == {"a": b"mine", "b": b"yours"}
    assert trees.parts() == []
    trees.stage()
    assert contents(trees.dest) == contents(trees.source)


def test_folders_that_are_there_keep_their_modes(trees: TwoTrees) -> None:
    trees.write("d/new", "1")
    trees.write("closed/new", "1")
    trees.source.chmod(0o700)
    for name, mode in (("", 0o2775), ("d", 0o3775), ("closed", 0o550)):
        (trees.dest / name).mkdir()
        (trees.dest / name).chmod(mode)
    (trees.source / "d").chmod(0o750)
    trees.stage()
    assert modes(trees.dest) == {
        "d": 0o3775,
        "d/new": 0o644,
        "closed": 0o550,
        "closed/new": 0o644,
    }
    assert stat.S_IMODE(trees.dest.stat().st_mode) == 0o2775


def test_what_is_no_file_is_named_and_the_rest_is_done(trees: TwoTrees) -> None:
    trees.write("a", "1")
    trees.write("z", "2")
    os.mkfifo(trees.source / "pipe")
    with socket.socket(socket.AF_UNIX) as opened:
        here = Path.cwd()
        os.chdir(trees.source)
        opened.bind("socket")
        os.chdir(here)
    stage = trees.stage()
    assert stage.failed == 2 and stage.files == 2
    assert {"pipe", "socket"} == {
        Path(words.partition(":")[0]).name for words in trees.failures
    }
    assert sorted(path.name for path in trees.dest.iterdir()) == ["a", "z"]


def test_a_path_longer_than_the_system_allows(trees: TwoTrees) -> None:
    make_deep(trees.source / "top", 1100)
    stage = trees.stage()
    assert trees.failures == []
    assert (stage.files, stage.folders) == (1100, 1101)
    assert depth(trees.dest / "top") == 1100
    for folder in (trees.source, trees.dest):  # which pytest cannot remove
        remove(str(folder))


def test_another_file_that_came_to_the_inode_number_meanwhile(
    trees: TwoTrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is free as soon as a file is removed whose first name was met."""
    shared = trees.write("a", "old")
    os.link(shared, trees.root / "elsewhere")
    os.link(trees.write("in/b", "another"), trees.source / "in" / "c")
    is_further = HardLinks.is_further
    number = shared.stat().st_ino

    def with_that_number(names: HardLinks, found: os.stat_result, path: str) -> bool:
        fields = ("st_dev", "st_size", "st_mtime_ns", "st_nlink")
        same: Any = SimpleNamespace(
            **{field: getattr(found, field) for field in fields}
        )
        same.st_ino = number
        return is_further(names, same, path)

    monkeypatch.setattr(HardLinks, "is_further", with_that_number)
    trees.stage()
    assert contents(trees.dest) == contents(trees.source)


def test_a_link_in_the_place_of_a_file_is_replaced_not_written_through(
    trees: TwoTrees,
) -> None:
    trees.write("f", "new")
    trees.write("d/g", "new")
    trees.dest.mkdir()
    precious = trees.root / "precious"
    precious.mkdir()
    (precious / "f").write_text("precious")
    (trees.dest / "f").symlink_to(precious / "f")
    (trees.dest / "d").symlink_to(precious)
    trees.stage()
    assert (trees.dest / "f").read_text() == "new"
    assert not (trees.dest / "f").is_symlink()
    assert [path.name for path in precious.iterdir()] == ["f"]
    assert (precious / "f").read_text() == "precious"
    (said,) = trees.failures
    assert "Not a directory; at the destination is a link: move it away" in said


def test_a_file_that_has_become_a_folder_and_the_reverse_are_told(
    trees: TwoTrees,
) -> None:
    trees.write("f", "a file")
    trees.write("d/g", "in a folder")
    (trees.dest / "f").mkdir(parents=True)
    (trees.dest / "d").write_text("")
    assert trees.stage().failed == 2
    folder, file = sorted(trees.failures)
    assert "/d: Not a directory; at the destination is a file: move it" in folder
    assert "/f: Is a directory; at the destination is a folder: move it" in file


def test_a_thousand_files_in_one_folder(trees: TwoTrees) -> None:
    for number in range(1200):
        trees.write(f"many/{number:05d}", str(number))
    stage = trees.stage()
    assert stage.files == 1200
    assert contents(trees.dest) == contents(trees.source)
