"""A second try copies what is missing, and trusts no time and no size alone."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from pegasus_bb.errors import UsageError
from pegasus_bb.staging.journal import Journal
from pegasus_bb.staging.stage import Stage

from .conftest import Desk

pytestmark = pytest.mark.usefixtures("copier")


def test_what_has_arrived_is_not_copied_again(desk: Desk) -> None:
    for name in "abc":
        desk.write(name, name * 10)
    assert desk.stage().files == 3
    before = (desk.dest / "a").stat()
    again = desk.stage()
    assert (again.files, again.kept) == (0, 3)
    assert (desk.dest / "a").stat().st_ino == before.st_ino


def test_nor_is_a_file_of_several_names(desk: Desk) -> None:
    os.link(desk.write("a", "1"), desk.source / "b")
    os.link(desk.source / "a", desk.source / "c")
    assert desk.stage().files == 1
    before = (desk.dest / "a").stat()
    again = desk.stage()
    assert (again.files, again.kept) == (0, 1)
    assert (desk.dest / "a").stat() == before
    (desk.dest / "b").unlink()
    (desk.dest / "b").write_text("another")
    desk.stage()
    names = [(desk.dest / name).stat().st_ino for name in "abc"]
    assert len(set(names)) == 1 and desk.parts() == []


def test_what_was_changed_on_either_side_is(desk: Desk) -> None:
    for name in ("source", "copy", "gone", "same"):
        desk.write(name, "1234")
    desk.stage()
    times = (desk.source / "source").stat()
    desk.write("source", "5678")  # of the same size, and as old as ever
    os.utime(desk.source / "source", ns=(times.st_atime_ns, times.st_mtime_ns))
    times = (desk.dest / "copy").stat()
    (desk.dest / "copy").write_text("BAD!")
    os.utime(desk.dest / "copy", ns=(times.st_atime_ns, times.st_mtime_ns))
    (desk.dest / "gone").unlink()
    again = desk.stage()
    assert (again.files, again.kept) == (3, 1)
    assert (desk.dest / "source").read_text() == "5678"
    assert (desk.dest / "copy").read_text() == "1234"


def test_a_copy_without_digest_is_none_with_digest(desk: Desk) -> None:
    desk.write("a", "1")
    assert desk.stage("size").files == 1
    assert desk.stage("none").kept == 1
    assert desk.stage("digest").files == 1
    assert desk.stage("size").kept == 1


def test_the_journal_of_a_crash(desk: Desk) -> None:
    for name in ("one", "two", "three"):
        desk.write(name, name)
    desk.stage()
    journal = desk.root / "journal"
    whole = journal.read_bytes()
    for cut in range(len(whole)):
        journal.write_bytes(whole[:cut])
        again = desk.stage("size")
        assert again.files + again.kept == 3
        assert desk.stage("size").kept == 3


def test_parts_of_a_killed_try_go(desk: Desk) -> None:
    desk.write("a", "1")
    desk.write("d/b", "2")
    journal = Journal(str(desk.root / "journal"), "", "")
    journal.begin("77.abcdef")
    journal.close()
    (desk.dest / "d").mkdir(parents=True)
    (desk.dest / ".a.77.abcdef.part").write_text("half")
    (desk.dest / "d" / ".b.77.abcdef.part").write_text("half")
    (desk.dest / ".c.77.123456.part").write_text("somebody else's")
    desk.stage()
    assert [Path(path).name for path in desk.parts()] == [".c.77.123456.part"]


@pytest.mark.parametrize("tag", ["x/../../victim", "x\0y", "\ud800", 7, None])
def test_a_journal_that_names_parts_of_no_try(desk: Desk, tag: object) -> None:
    """Somebody may have edited it: it can have nothing else removed."""
    desk.write("f", "1")
    (desk.source / "link").symlink_to("f")
    (desk.dest / ".f.x").mkdir(parents=True)
    (desk.root / "victim.part").write_text("kept")
    (desk.root / "journal").write_text(json.dumps({"begun": tag}) + "\n")
    desk.stage()
    assert desk.failures == []
    assert (desk.root / "victim.part").read_text() == "kept"


def test_two_at_a_time_are_refused(desk: Desk) -> None:
    desk.write("a", "1")
    journal = Journal(str(desk.root / "journal"), "", "")
    with pytest.raises(UsageError, match=r"another pegasus-bb stage .* is at work"):
        desk.stage()
    journal.close()
    desk.stage()


def test_a_large_file_has_its_line_while_others_are_copied(
    desk: Desk, tmp_path: Path
) -> None:
    """Else a copy that is killed after hours begins anew."""
    for name in "abcd":
        desk.write(name, "x" * (9 << 20))
    journal = Journal(str(tmp_path / "j"), str(desk.source), str(desk.dest))
    stage = Stage(str(desk.source), str(desk.dest), journal, None, print)
    seen: list[int] = []
    moved = [0]

    def tell(size: int) -> None:
        moved[0] += size
        if moved[0] <= 3 * (9 << 20) or seen:
            return
        until = time.monotonic() + 120  # the fourth file waits for the first one's line
        while time.monotonic() < until:
            lines = (tmp_path / "j").read_text().count('"name"')
            if lines:
                seen.append(lines)
                return
            time.sleep(0.01)
        seen.append(0)

    assert stage.run(tell)
    assert seen[0] >= 1
