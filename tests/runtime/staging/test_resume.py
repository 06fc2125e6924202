"""A second try copies what is missing, and trusts no time and no size alone."""

from __future__ import annotations

import json
import os

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.runtime.staging.stage_journal import StageJournal

from .conftest import TwoTrees

pytestmark = pytest.mark.usefixtures("copier")


def test_only_what_was_changed_on_either_side_is_copied_again(trees: TwoTrees) -> None:
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
    same = (trees.dest / "same").stat()
    again = trees.stage()
    assert (again.files, again.kept) == (3, 1)
    assert (trees.dest / "same").stat() == same
    assert (trees.dest / "source").read_text() == "5678"
    assert (trees.dest / "copy").read_text() == "1234"


def test_a_copy_without_digest_is_none_with_digest(trees: TwoTrees) -> None:
    trees.write("a", "1")
    assert trees.stage("size").files == 1
    assert trees.stage("none").kept == 1
    assert trees.stage("digest").files == 1
    assert trees.stage("size").kept == 1


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
    journal = StageJournal(str(trees.root / "journal"), "", "")
    with pytest.raises(
        UsageError, match=r"another pegasus-bb copies .* at this moment"
    ):
        trees.stage()
    journal.close()
    trees.stage()
