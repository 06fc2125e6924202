"""A second try copies what is missing, and trusts no time and no size alone."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.runtime.staging.stage_journal import Journal
from pegasus_bb.runtime.staging.stage_tree import Stage

from .conftest import TwoTrees

pytestmark = pytest.mark.usefixtures("copier")


def test_what_has_arrived_is_not_copied_again(trees: TwoTrees) -> None:
    for name in "abc":
        trees.write(name, name * 10)
    assert trees.stage().files == 3
    before = (trees.dest / "a").stat()
    again = trees.stage()
    assert (again.files, again.kept) == (0, 3)
    assert (trees.dest / "a").stat().st_ino == before.st_ino


def test_a_file_of_several_names_is_not_copied_again(trees: TwoTrees) -> None:
    os.link(trees.write("a", "1"), trees.source / "b")
    os.link(trees.source / "a", trees.source / "c")
    assert trees.stage().files == 1
    before = (trees.dest / "a").stat()
    again = trees.stage()
    assert (again.files, again.kept) == (0, 1)
    assert (trees.dest / "a").stat() == before
    (trees.dest / "b").unlink()
    (trees.dest / "b").write_text("another")
    trees.stage()
    names = [(trees.dest / name).stat().st_ino for name in "abc"]
    assert len(set(names)) == 1 and trees.parts() == []


def test_what_was_changed_on_either_side_is(trees: TwoTrees) -> None:
    for name in ("source", "copy", "gone", "same"):
        trees.write(name, "1234")
    trees.stage()
    times = (trees.source / "source").stat()
    trees.write("source", "5678")  # of the same size, and as old as ever
    os.utime(trees.source / "source", ns=(times.st_atime_ns, times.st_mtime_ns))
    times = (trees.dest / "copy").stat()
    (trees.dest / "copy").write_text("BAD!")
    os.utime(trees.dest / "copy", ns=(times.st_atime_ns, times.st_mtime_ns))
    (trees.dest / "gone").unlink()
    again = trees.stage()
    assert (again.files, again.kept) == (3, 1)
    assert (trees.dest / "source").read_text() == "5678"
    assert (trees.dest / "copy").read_text() == "1234"


def test_a_copy_without_digest_is_none_with_digest(trees: TwoTrees) -> None:
    trees.write("a", "1")
    assert trees.stage("size").files == 1
    assert trees.stage("none").kept == 1
    assert trees.stage("digest").files == 1
    assert trees.stage("size").kept == 1


@pytest.mark.parametrize("step", [37, pytest.param(1, marks=pytest.mark.sweep)])
def test_the_journal_of_a_crash(trees: TwoTrees, step: int) -> None:
    for name in ("one", "two", "three"):
        trees.write(name, name)
    trees.stage()
    journal = trees.root / "journal"
    whole = journal.read_bytes()
    for cut in range(0, len(whole), step):
        journal.write_bytes(whole[:cut])
        again = trees.stage("size")
        assert again.files + again.kept == 3
        assert trees.stage("size").kept == 3


def test_parts_of_a_killed_try_go(trees: TwoTrees) -> None:
    trees.write("a", "1")
    trees.write("d/b", "2")
    journal = Journal(str(trees.root / "journal"), "", "")
    journal.begin("77.abcdef")
    journal.close()
    (trees.dest / "d").mkdir(parents=True)
    (trees.dest / ".a.77.abcdef.part").write_text("half")
    (trees.dest / "d" / ".b.77.abcdef.part").write_text("half")
    (trees.dest / ".c.77.123456.part").write_text("another program's")
    trees.stage()
    assert [Path(path).name for path in trees.parts()] == [".c.77.123456.part"]


@pytest.mark.parametrize("tag", ["x/../../victim", "x\0y", "\ud800", 7, None])
def test_a_journal_that_names_parts_of_no_try(trees: TwoTrees, tag: object) -> None:
    """A user may have edited it: it can have nothing else removed."""
    trees.write("f", "1")
    (trees.source / "link").symlink_to("f")
    (trees.dest / ".f.x").mkdir(parents=True)
    (trees.root / "victim.part").write_text("kept")
    (trees.root / "journal").write_text(json.dumps({"begun": tag}) + "\n")
    trees.stage()
    assert trees.failures == []
    assert (trees.root / "victim.part").read_text() == "kept"


def test_two_at_a_time_are_refused(trees: TwoTrees) -> None:
    trees.write("a", "1")
    journal = Journal(str(trees.root / "journal"), "", "")
    with pytest.raises(
        UsageError, match=r"another pegasus-bb copies .* at this moment"
    ):
        trees.stage()
    journal.close()
    trees.stage()


def test_a_large_file_has_its_line_while_others_are_copied(
    trees: TwoTrees, tmp_path: Path
) -> None:
    """Else a copy that is killed after hours begins anew."""
    for name in "abcd":
        trees.write(name, "x" * (9 << 20))
    journal = Journal(str(tmp_path / "j"), str(trees.source), str(trees.dest))
    stage = Stage(str(trees.source), str(trees.dest), journal, digest=None, fail=print)
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
