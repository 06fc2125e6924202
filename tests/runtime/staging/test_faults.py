"""One file that cannot be copied: one clear error, nothing half, the rest is done."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging import durable, onefile, sync
from pegasus_bb.runtime.staging.onefile import SETTLE

from .conftest import TwoTrees


def fails(*_: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize(
    "number, words",
    [
        (errno.ENOSPC, r"it needs 3\.0 MiB, .* free"),
        (errno.EDQUOT, r"it needs 3\.0 MiB, .* quota"),
        (errno.EROFS, "takes no more writes"),
        (errno.EIO, "storage itself fails"),
    ],
)
def test_a_full_or_failing_destination(
    trees: TwoTrees, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    trees.write("small", "fits")
    trees.write("large", os.urandom(3 << 20))
    pour = onefile.pour

    def fails(
        source: int, out: int, size: int, *rest: object, **more: object
    ) -> onefile.Poured:
        pour(source, out, min(size, 1 << 20), *rest, **more)  # type: ignore[arg-type]
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(onefile, "pour", fails)
    monkeypatch.setattr("pegasus_bb.runtime.staging.plain_copier.Plain.limit", 1 << 20)
    trees.stage()
    (failure,) = [words for words in trees.failures if "large" in words]
    assert re.search(words, failure)
    assert not (trees.dest / "large").exists()
    assert trees.parts() == []


@pytest.mark.usefixtures("copier")
@pytest.mark.parametrize("files", [2, 40])
def test_a_disk_that_cannot_make_them_durable_gets_no_names(
    trees: TwoTrees, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    for number in range(files):
        trees.write(str(number), "x")

    monkeypatch.setattr(sync, "sync_file_system", fails)
    monkeypatch.setattr(sync.os, "fsync", _only(sync.os.fsync, ".part", fails))
    stage = trees.stage()
    assert stage.failed == files and stage.files == 0
    assert all("the storage itself fails" in words for words in trees.failures)
    assert list(trees.dest.iterdir()) == []


Call = Callable[[int], None]


def _only(call: Call, suffix: str, instead: Call) -> Call:
    """``instead`` for the files whose names end like this."""

    def chosen(handle: int) -> None:
        name = str(Path(f"/proc/self/fd/{handle}").readlink())
        (instead if name.endswith(suffix) else call)(handle)

    return chosen


@pytest.mark.usefixtures("copier")
def test_a_folder_that_cannot_be_made_durable(
    trees: TwoTrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is whole under its name, but is not told of: it is copied again."""
    trees.write("in/file", "x")

    with monkeypatch.context() as patched:
        patched.setattr(sync.os, "fsync", _only(sync.os.fsync, "/to/in", fails))
        assert trees.stage().failed == 1
    assert (trees.stage().files, trees.stage().kept) == (1, 1)


def test_a_source_without_read_permission(of_a_user: Path) -> None:
    trees = TwoTrees(of_a_user)
    trees.source.mkdir()
    trees.write("open", "1")
    trees.write("shut", "2").chmod(0)
    trees.write("dir/file", "3")
    (trees.source / "dir").chmod(0)
    trees.stage()
    assert sorted(words.split(" -> ")[0][-4:] for words in trees.failures) == [
        "/dir",
        "shut",
    ]
    assert all("Permission denied" in words for words in trees.failures)
    assert (trees.dest / "open").read_text() == "1"
    (trees.source / "dir").chmod(0o755)


def test_a_source_written_anew_with_its_old_time(trees: TwoTrees) -> None:
    """As rsync --inplace and cp -p do it: only ctime tells."""
    size = 20 << 20
    path = trees.write("data", b"A" * size)
    before = path.stat()
    steps = []

    def rewrite(_: int) -> None:
        steps.append(1)
        with path.open("r+b") as out:
            out.write(b"B" * size)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    trees.stage(tell=rewrite)
    (words,) = trees.failures
    assert "changed while it was copied (ctime_ns), twice" in words
    assert not (trees.dest / "data").exists() and steps


@pytest.mark.usefixtures("copier")
@pytest.mark.parametrize("size", [5000, 2 << 20])
def test_a_file_that_has_just_changed_is_left_to_settle(
    trees: TwoTrees, size: int
) -> None:
    """A write has its time before it has its bytes; a reader between the two gets
    what was never there, and sees no change afterwards."""
    path = trees.write("data", b"A" * size)
    ages: list[float] = []

    def read(_: int) -> None:
        ages.append(time.time() - path.stat().st_ctime)

    os.utime(path)
    trees.stage(tell=read)
    assert trees.failures == [] and ages[0] >= SETTLE


FEW = """
import resource, sys
from pegasus_bb.runtime.staging.stage_journal import StageJournal
from pegasus_bb.runtime.staging.stage_tree import Stage
what, limit = sys.argv[2:]
resource.setrlimit(getattr(resource, what), (int(limit), int(limit)))
root = sys.argv[1]
journal = StageJournal(root + "/journal", "", "")
stage = Stage(root + "/from", root + "/to", journal, None, print)
sys.exit(not stage.run())
"""


@pytest.mark.usefixtures("copier")
def test_few_handles_and_folders_that_wait_at_each_of_many_levels(
    trees: TwoTrees,
) -> None:
    folder = trees.source
    for level in range(60):
        for name in ("a", "b", "c"):
            (folder / name).mkdir()
            (folder / name / "file").touch()
        folder /= "abc"[level % 3]
    for number in range(200):
        trees.write(f"{number}/in/file", "x")
    command = [sys.executable, "-c", FEW, str(trees.root), "RLIMIT_NOFILE", "64"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(list(trees.dest.rglob("file"))) == 380


def test_a_python_without_ctypes(
    trees: TwoTrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compute nodes may have a bare one."""
    monkeypatch.setitem(sys.modules, "ctypes", None)
    monkeypatch.delitem(sys.modules, "pegasus_bb.runtime.staging.helper", raising=False)
    monkeypatch.setattr(durable, "_libc", None)
    for number in range(40):
        trees.write(str(number), "x")
    trees.write("large", os.urandom(9 << 20))
    assert trees.stage().files == 41
    assert trees.failures == []
