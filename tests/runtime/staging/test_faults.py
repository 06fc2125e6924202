"""One file that cannot be copied: one clear error, nothing half, the rest is done."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.runtime.staging import durable, onefile, sync
from pegasus_bb.runtime.staging.failures import CopyFailed, explained
from pegasus_bb.runtime.staging.onefile import SETTLE
from pegasus_bb.runtime.staging.stage_journal import Journal
from pegasus_bb.runtime.staging.stage_tree import Stage

from .conftest import TwoTrees


def fails(*_: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """The system refuses longer files, as a quota would."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("copier")
@pytest.mark.parametrize("size", [200_000, 3 << 20])
def test_a_write_that_is_refused(trees: TwoTrees, size: int) -> None:
    trees.write("a", "fits")
    trees.write("b", os.urandom(size))
    trees.write("c", "fits as well")
    with no_file_above(100_000):
        stage = trees.stage()
    assert stage.failed == 1
    assert "/from/b -> " in trees.failures[0]
    assert "File too large" in trees.failures[0]
    assert sorted(path.name for path in trees.dest.iterdir()) == ["a", "c"]
    assert trees.parts() == []


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


@pytest.mark.usefixtures("copier")
def test_a_file_that_grows_all_the_time(
    trees: TwoTrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch sees it change, and so do both tries that it gets by itself."""
    trees.write("still", "1")
    growing = trees.write("growing", os.urandom(2 << 20))
    pour = onefile.pour

    def and_grow(*arguments: object, **more: object) -> onefile.Poured:
        with growing.open("ab") as out:
            out.write(b"more")
        return pour(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(onefile, "pour", and_grow)
    stage = trees.stage()
    (words,) = [words for words in trees.failures if "growing" in words]
    assert "changed while it was copied" in words and "twice" in words
    assert not (trees.dest / "growing").exists()
    assert stage.failed <= 2


def test_a_journal_that_takes_no_more(trees: TwoTrees) -> None:
    trees.write("a", "1")
    with no_file_above(50), pytest.raises(CopyFailed, match=r"journal .* be written"):
        trees.stage()
    assert trees.stage().files == 1


@pytest.mark.parametrize("size", [3 << 20, 20 << 20])
def test_a_source_written_anew_with_its_old_time(trees: TwoTrees, size: int) -> None:
    """As rsync --inplace and cp -p do it: only ctime tells."""
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


def test_a_folder_of_two_lines_is_named_on_one(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    for folder in (tmp_path / "a\nb", tmp_path / "not\nthere"):
        words = str(explained(full, "/from/data", f"{folder}/data"))
        assert "\n" not in words and repr(str(folder)) in words
        (tmp_path / "a\nb").mkdir(exist_ok=True)


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
from pegasus_bb.runtime.staging.stage_journal import Journal
from pegasus_bb.runtime.staging.stage_tree import Stage
what, limit = sys.argv[2:]
resource.setrlimit(getattr(resource, what), (int(limit), int(limit)))
root = sys.argv[1]
journal = Journal(root + "/journal", "", "")
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


def threads_above(number: int) -> bool:
    """Whether there are more after long enough for them to end."""
    until = time.monotonic() + 60
    while threading.active_count() > number and time.monotonic() < until:
        time.sleep(0.01)
    return threading.active_count() > number


def test_no_room_for_threads(trees: TwoTrees, monkeypatch: pytest.MonkeyPatch) -> None:
    """The committer's two are needed; without the others it takes longer."""
    start = threading.Thread.start
    left = iter([True, True, False, True])

    def starts(thread: threading.Thread) -> None:
        if not next(left, False):
            raise RuntimeError("can't start new thread")
        start(thread)

    for number in range(20):
        trees.write(str(number), "x")
    trees.write("large", os.urandom(9 << 20))
    monkeypatch.setattr(threading.Thread, "start", starts)
    assert trees.stage().files == 21
    before = threading.active_count()
    with pytest.raises(CopyFailed, match="no room for a thread"):
        trees.stage()  # one of the two has begun
    assert not threads_above(before)


def test_one_in_the_other_is_refused(trees: TwoTrees) -> None:
    journal = Journal(str(trees.root / "journal"), "", "")
    places = [("from", "from"), ("from", "from/in"), (".", "from"), ("none", "to")]
    for source, dest in places:
        with pytest.raises(UsageError, match=r"itself|lies in the other|not there"):
            Stage(
                str(trees.root / source),
                str(trees.root / dest),
                journal,
                digest=None,
                fail=lambda _: None,
            )


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


def test_a_bug_is_not_hidden(trees: TwoTrees, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(100):
        trees.write(str(number), "x")

    def wrong(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("pegasus_bb.runtime.staging.plain_copier.Plain.copy", wrong)
    monkeypatch.setenv("PEGASUS_BB_HELPER", "none")
    with pytest.raises(ZeroDivisionError):
        trees.stage()
    assert trees.parts() == []


@pytest.mark.usefixtures("copier")
def test_an_interrupt_leaves_whole_files_only(trees: TwoTrees) -> None:
    for number in range(2000):
        trees.write(f"{number:04d}", os.urandom(100))

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trees.stage(tell=interrupt)
    assert trees.parts() == []
    for path in trees.dest.iterdir():
        assert path.read_bytes() == (trees.source / path.name).read_bytes()
    assert trees.stage().failed == 0
    assert len(list(trees.dest.iterdir())) == 2000


@pytest.mark.usefixtures("copier")
def test_files_of_a_few_mebibytes_share_one_call(
    trees: TwoTrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For 20 files by themselves it was 20 calls, and the copiers waited for each."""
    for number in range(20):
        trees.write(f"{number:02d}", os.urandom((1 << 20) + number))

    def one_by_one(item: object, tag: str) -> None:
        raise AssertionError("a file was made durable by itself")

    monkeypatch.setattr(sync, "_sync_part", one_by_one)
    stage = trees.stage()
    assert (stage.files, trees.failures) == (20, [])
    for number in range(20):
        name = f"{number:02d}"
        assert (trees.dest / name).read_bytes() == (trees.source / name).read_bytes()


@pytest.mark.usefixtures("copier")
def test_one_of_them_that_fails_costs_itself_only(trees: TwoTrees) -> None:
    for name in ("one", "two", "three"):
        trees.write(name, os.urandom(2 << 20))
    (trees.dest / "two").mkdir(parents=True)  # no file can have that name
    assert trees.stage().files == 2
    (failure,) = trees.failures
    assert "two" in failure and trees.parts() == []
    (trees.dest / "two").rmdir()
    again = trees.stage()
    assert (again.files, again.kept, trees.failures) == (1, 2, [])
