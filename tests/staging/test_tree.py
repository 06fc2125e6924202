"""A tree arrives as docs/staging.md says, whoever copies the small files."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pegasus_bb.staging.names import Names

from .conftest import Desk

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


def test_everything_arrives_with_its_mode(desk: Desk) -> None:
    desk.write("a.txt", "first").chmod(0o640)
    desk.write("deep/er/run.sh", "#!/bin/sh\n").chmod(0o755)
    desk.write("deep/empty", "").chmod(0o444)
    desk.write("large", os.urandom((3 << 20) + 17)).chmod(0o600)
    (desk.source / "nothing in it").mkdir(mode=0o750)
    (desk.source / "link").symlink_to("deep/er/run.sh")
    (desk.source / "dangling").symlink_to("/nowhere")
    stage = desk.stage()
    assert desk.failures == []
    assert contents(desk.dest) == contents(desk.source)
    assert modes(desk.dest) == modes(desk.source)
    assert (stage.files, stage.folders, stage.links) == (4, 3, 2)
    assert desk.parts() == []


def test_the_journal_has_the_digest_of_each(desk: Desk) -> None:
    data = {"small": b"x" * 5000, "large": os.urandom(2 << 20), "none": b""}
    for name, content in data.items():
        desk.write(name, content)
    desk.stage()
    lines = [json.loads(line) for line in (desk.root / "journal").open()]
    noted = {line["name"]: line["digest"] for line in lines if "name" in line}
    assert noted == {
        name: f"sha256:{hashlib.sha256(content).hexdigest()}"
        for name, content in data.items()
    }


def test_a_hostile_name_is_only_a_name(desk: Desk, hostile: str) -> None:
    desk.write(hostile, "data")
    desk.write(f"in/{hostile}/{hostile}", "more")
    desk.stage()
    assert desk.failures == []
    assert contents(desk.dest) == contents(desk.source)


def test_long_names_that_begin_alike(desk: Desk) -> None:
    """Names have 255 bytes, and those of temporary files need some for themselves."""
    names = ["A" * 250 + str(number) for number in range(3)] + ["\u6f22" * 85]
    for name in names:
        desk.write(name, name[-5:])
    desk.stage()
    assert desk.failures == [] and desk.parts() == []
    assert contents(desk.dest) == contents(desk.source)


def test_holes_stay_holes(desk: Desk) -> None:
    with desk.write("sparse", b"begin").open("r+b") as out:
        out.seek(64 << 20)
        out.write(b"end")
    os.truncate(desk.source / "sparse", 100 << 20)
    desk.stage()
    copy = (desk.dest / "sparse").stat()
    assert copy.st_size == 100 << 20
    assert copy.st_blocks * 512 < 1 << 20
    with (desk.dest / "sparse").open("rb") as text:
        assert text.read(5) == b"begin"
        text.seek(64 << 20)
        assert text.read(4) == b"end\0"


def test_names_of_one_file_stay_names_of_one_file(desk: Desk) -> None:
    first = desk.write("a/first", "shared")
    os.link(first, desk.source / "a" / "second")
    (desk.source / "b").mkdir()
    os.link(first, desk.source / "b" / "third")
    desk.stage()
    copies = [desk.dest / name for name in ("a/first", "a/second", "b/third")]
    assert [path.read_text() for path in copies] == ["shared"] * 3
    assert len({path.stat().st_ino for path in copies}) == 1
    assert copies[0].stat().st_ino != first.stat().st_ino
    desk.stage()
    assert desk.failures == [] and desk.parts() == []


@pytest.mark.parametrize("kind", ["changes", "has no room"])
def test_further_names_of_a_file_that_did_not_arrive_are_left(
    desk: Desk, kind: str
) -> None:
    """What has the first name there may be anything."""
    first = desk.write("a", os.urandom(9 << 20))
    os.link(first, desk.source / "b")
    desk.dest.mkdir()
    (desk.dest / "a").write_text("mine")
    (desk.dest / "b").write_text("yours")

    def spoil(size: int) -> None:
        if kind == "changes":
            with first.open("ab") as out:
                out.write(b"more")
        else:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    desk.stage(tell=spoil)
    assert len(desk.failures) == 2
    assert "is to be another name of" in desk.failures[1]
    assert contents(desk.dest) == {"a": b"mine", "b": b"yours"}
    assert desk.parts() == []
    desk.stage()
    assert contents(desk.dest) == contents(desk.source)


def test_a_folder_that_a_group_shares_stays_so(desk: Desk) -> None:
    desk.write("d/new", "1")
    desk.source.chmod(0o755)
    for path in (desk.dest, desk.dest / "d"):
        path.mkdir()
        path.chmod(0o3775)
    (desk.source / "d").chmod(0o750)
    desk.stage()
    assert modes(desk.root / "to") == {"d": 0o3750, "d/new": 0o644}
    assert stat.S_IMODE(desk.dest.stat().st_mode) == 0o3755


def test_a_folder_of_somebody_else_keeps_its_mode(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("d/new", "1")
    (desk.dest / "d").mkdir(parents=True, mode=0o777)
    (desk.dest / "d").chmod(0o777)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    desk.stage()
    assert desk.failures == []
    assert contents(desk.dest) == {"d": None, "d/new": b"1"}
    assert modes(desk.dest)["d"] == 0o777


def test_what_is_no_file_is_named_and_the_rest_is_done(desk: Desk) -> None:
    desk.write("a", "1")
    desk.write("z", "2")
    os.mkfifo(desk.source / "pipe")
    with socket.socket(socket.AF_UNIX) as opened:
        here = Path.cwd()
        os.chdir(desk.source)
        opened.bind("socket")
        os.chdir(here)
    stage = desk.stage()
    assert stage.failed == 2 and stage.files == 2
    assert sorted(words.partition(": not a regular file")[0] for words in desk.failures)
    assert {"pipe", "socket"} == {
        Path(words.partition(":")[0]).name for words in desk.failures
    }
    assert sorted(path.name for path in desk.dest.iterdir()) == ["a", "z"]


def test_a_path_longer_than_the_system_allows(desk: Desk) -> None:
    here = os.open(desk.source, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 100, dir_fd=here)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    file = os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=here)
    os.write(file, b"deep")
    os.close(file)
    os.close(here)
    stage = desk.stage()
    assert desk.failures == []
    assert (stage.files, stage.folders) == (1, 60)
    here = os.open(desk.dest, os.O_RDONLY)
    for _ in range(60):
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    file = os.open("file", os.O_RDONLY, dir_fd=here)
    assert os.read(file, 10) == b"deep"


def test_another_file_that_came_to_the_inode_number_meanwhile(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is free as soon as a file is removed whose first name was met."""
    shared = desk.write("a", "old")
    os.link(shared, desk.root / "elsewhere")
    os.link(desk.write("in/b", "another"), desk.source / "in" / "c")
    is_further, number = Names.is_further, shared.stat().st_ino

    def with_that_number(names: Names, found: os.stat_result, path: str) -> bool:
        fields = ("st_dev", "st_size", "st_mtime_ns", "st_nlink")
        same: Any = SimpleNamespace(
            **{field: getattr(found, field) for field in fields}
        )
        same.st_ino = number
        return is_further(names, same, path)

    monkeypatch.setattr(Names, "is_further", with_that_number)
    desk.stage()
    assert contents(desk.dest) == contents(desk.source)


def test_a_folder_that_nobody_may_write(of_a_user: Path) -> None:
    desk = Desk(of_a_user)
    desk.source.mkdir()
    desk.write("shut/file", "x")
    desk.write("shut/in/file", "y")
    for name in ("shut/in", "shut"):
        (desk.source / name).chmod(0o555)
    for _ in range(2):
        desk.stage()
        assert desk.failures == []
        assert modes(desk.dest) == modes(desk.source)
    for name in ("shut/in", "shut"):
        (desk.source / name).chmod(0o755)
        (desk.dest / name).chmod(0o755)


def test_a_link_in_the_place_of_a_file_is_replaced_not_written_through(
    desk: Desk,
) -> None:
    desk.write("f", "new")
    desk.write("d/g", "new")
    desk.dest.mkdir()
    precious = desk.root / "precious"
    precious.mkdir()
    (precious / "f").write_text("precious")
    (desk.dest / "f").symlink_to(precious / "f")
    (desk.dest / "d").symlink_to(precious)
    stage = desk.stage()
    assert (desk.dest / "f").read_text() == "new"
    assert not (desk.dest / "f").is_symlink()
    assert [path.name for path in precious.iterdir()] == ["f"]
    assert (precious / "f").read_text() == "precious"
    assert stage.failed == 1 and "Not a directory" in desk.failures[0]


def test_a_folder_in_the_place_of_a_file_is_named(desk: Desk) -> None:
    desk.write("f", "new")
    desk.write("g", "new")
    (desk.dest / "f" / "kept").mkdir(parents=True)
    desk.stage()
    assert len(desk.failures) == 1 and "/to/f: Is a directory" in desk.failures[0]
    assert (desk.dest / "f" / "kept").is_dir()
    assert (desk.dest / "g").read_text() == "new"
    assert desk.parts() == []


def test_what_is_merged_into_stays(desk: Desk) -> None:
    desk.write("d/new", "1")
    (desk.dest / "d").mkdir(parents=True)
    (desk.dest / "d" / "old").write_text("stays")
    desk.stage()
    assert contents(desk.dest) == {"d": None, "d/new": b"1", "d/old": b"stays"}


def test_ten_thousand_files_in_one_folder(desk: Desk) -> None:
    for number in range(10_000):
        desk.write(f"many/{number:05d}", str(number))
    stage = desk.stage()
    assert stage.files == 10_000
    assert contents(desk.dest) == contents(desk.source)
