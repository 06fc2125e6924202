"""What a file system refuses costs no bytes; a warning says once what was not kept."""

from __future__ import annotations

import errno
import itertools
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core import refusals
from pegasus_bb.core.files import write_json
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.folder_lfns import copy_path
from pegasus_bb.runtime.staging.helper import load
from pegasus_bb.runtime.staging.items import Batch, Folder, Item, Landed, item_of, stamp
from pegasus_bb.runtime.staging.plain_copier import Plain
from pegasus_bb.runtime.staging.sync import sync
from tests.support.refused import CHMOD, LINK, SYMLINK, without

from .conftest import TwoTrees
from .test_tree import modes

BIG = bytes(range(256)) * (5 << 10)  # more than the helper takes


def a_tree(trees: TwoTrees) -> None:
    for name, data, mode in (
        ("small", b"1", 0o644),
        ("private", b"2", 0o600),
        ("program", b"3", 0o755),
        ("big", BIG, 0o644),
        ("a/one", b"4", 0o644),
    ):
        trees.write(name, data).chmod(mode)
    (trees.source / "b").mkdir(mode=0o755)
    (trees.source / "b" / "other").hardlink_to(trees.source / "a" / "one")
    (trees.source / "link").symlink_to("a/one")


def everything(trees: TwoTrees) -> bool:
    return data_in(trees.dest) == data_in(trees.source)


def data_in(root: Path) -> dict[str, bytes]:
    """Through links."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


@pytest.mark.parametrize(
    "refused", [CHMOD, LINK, SYMLINK], ids=["modes", "names", "links"]
)
def test_all_bytes_arrive_where_something_is_refused(
    copier: str, trees: TwoTrees, refused: tuple[str, ...]
) -> None:
    a_tree(trees)

    def twice() -> None:
        os.umask(0o022)
        for _ in range(2):
            done = trees.stage()
            print(json.dumps([trees.failures, done.files, done.kept]))

    told = without(refused, twice)
    first, second = map(json.loads, told.stdout.splitlines())
    files = 5 + (refused != CHMOD)  # a link or a name that is a file of its own
    assert first == [[], files, 0] and second == [[], 0, files]
    assert everything(trees) and trees.parts() == []
    kept = modes(trees.dest)
    assert [kept[name] for name in ("small", "private", "big")] == [0o644, 0o600, 0o644]
    if refused == CHMOD:  # the umask takes nothing of these modes
        assert told.stderr == "" and kept["program"] == 0o755
    else:
        assert told.stderr.count("warning") == 1
        assert "Operation not permitted" in told.stderr


def test_a_mode_that_is_refused_is_said_once(copier: str, trees: TwoTrees) -> None:
    for name, data in (("a", b"1"), ("b", BIG), ("c/d", b"3")):
        trees.write(name, data).chmod(0o666)
    (trees.source / "c").chmod(0o777)

    def work() -> None:
        os.umask(0o022)
        trees.stage()

    told = without(CHMOD, work)
    assert everything(trees) and trees.failures == []
    assert told.stderr.count("mode bits were not set") == 1
    assert f"warning: {trees.dest}/c" in told.stderr
    assert modes(trees.dest) == {"a": 0o644, "b": 0o644, "c": 0o755, "c/d": 0o644}


def test_a_folder_of_results_arrives_where_modes_and_links_are_refused(
    tmp_path: Path,
) -> None:
    source, dest = tmp_path / "source", tmp_path / "dest"
    (source / "in").mkdir(parents=True)
    (source / "in" / "file").write_text("1")
    (source / "in").chmod(0o777)
    (source / "link").symlink_to("in/file")
    told = without((*CHMOD, *SYMLINK), lambda: copy_path(str(source), str(dest)))
    assert (told.returncode, told.stderr.count("warning")) == (0, 2)
    assert data_in(dest) == data_in(source)


def test_our_own_notes_are_written_where_modes_are_refused(tmp_path: Path) -> None:
    note = tmp_path / "note.json"
    told = without(CHMOD, lambda: write_json(str(note), {"a": 1}))
    assert told.returncode == 0 and json.loads(note.read_text()) == {"a": 1}


def test_a_link_to_no_file_fails_and_is_named_where_links_are_refused(
    trees: TwoTrees,
) -> None:
    trees.write("file", "1")
    (trees.source / "nowhere").symlink_to("gone")

    def work() -> None:
        trees.stage()
        print("\n".join(trees.failures))

    told = without(SYMLINK, work)
    assert told.stdout.count("nowhere") == 2 and "not permitted" in told.stdout
    assert (trees.dest / "file").read_text() == "1"


@pytest.mark.parametrize(("code", "raises"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_folder_whose_file_system_has_no_sync_counts_as_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, raises: bool
) -> None:
    fsync = os.fsync

    def refused(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(code, os.strerror(code))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", refused)
    (tmp_path / "file").write_text("1")
    found = (tmp_path / "file").stat()
    folder = Folder.open(str(tmp_path))
    item = item_of(folder, "file", folder, as_name="file", status=found, mark=None)
    assert bool(sync([item], [], "1.abcdef")) is raises
    if raises:
        with pytest.raises(OSError):
            write_json(str(tmp_path / "note"), {})
    else:
        write_json(str(tmp_path / "note"), {})


# -- the helper in C and Python are one copier

MOMENTS = st.one_of(
    st.sampled_from([-1, 0, 2**31, 2**33, 13_569_465_600]),  # the last one: in 2400
    st.integers(-(2**31), 2**34 - 1),
)
FILES = st.lists(
    st.tuples(
        st.integers(0, 0o777).map(lambda mode: mode | 0o400),
        MOMENTS,
        st.integers(0, 999_999_999),
        st.sampled_from([0, 1, 70_000]),
        st.sampled_from(["a", "\u00e9", "e\u0301", "a b\n", "x" * 225, "\udcff"]),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda file: file[4],
)


def names_in(folder: Folder) -> list[str]:
    return [entry.name for entry in os.scandir(folder.fd)]


def copied(copier: Any, items: list[Item], tag: str) -> list[Any]:
    """What each file became: the answer of ``copier``, and what is on the disk."""
    batch = Batch(items, copier)
    copier.copy(batch, tag, False, lambda size: None)
    parts = sorted(os.fsencode(name).hex() for name in names_in(items[0].dest))
    found: list[Any] = [parts]
    for item, answer in zip(items, copier.rename(batch, tag), strict=True):
        now = os.stat(item.as_name, dir_fd=item.dest.fd)
        assert isinstance(answer, Landed)
        assert answer.stamp == stamp(now)
        source = os.stat(item.name, dir_fd=item.source.fd)
        assert answer.source == stamp(source)
        found.append([answer.size, answer.digest, stat.S_IMODE(now.st_mode)])
    return found


@given(files=FILES, umask=st.sampled_from([0, 0o022, 0o077]), refused=st.booleans())
def test_the_helper_and_python_make_the_same_of_a_file(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[tuple[int, int, int, int, str]],
    umask: int,
    refused: bool,
) -> None:
    helper = load(digest=True)
    if helper is None:
        pytest.skip("the compiled helper was not built: no compiler")
    root = tmp_path_factory.mktemp("same")
    (root / "from").mkdir()
    for mode, seconds, ns, size, name in files:
        path = root / "from" / name
        path.write_bytes(os.urandom(size))
        path.chmod(mode)
        moment = seconds * 1_000_000_000 + ns
        os.utime(path, ns=(moment, moment))

    def work() -> None:
        os.umask(umask)
        source = Folder.open(str(root / "from"))
        for copier, to in ((helper, "c"), (Plain(SHA256), "python")):
            (root / to).mkdir(0o700)
            dest = Folder.open(str(root / to))
            items = []
            for *_, name in files:
                found = os.stat(name, dir_fd=source.fd)
                items.append(
                    item_of(source, name, dest, as_name=name, status=found, mark=found)
                )
            refusals.WARNINGS.said.clear()
            print(json.dumps(copied(copier, items, "1.abcdef")))

    told = without(CHMOD if refused else (), work)
    in_c, in_python = map(json.loads, told.stdout.splitlines())
    assert in_c == in_python
    warned = [line.replace("/c/", "/python/") for line in told.stderr.splitlines()]
    warned = [line.split(":")[2] for line in warned if "warning" in line]
    assert warned == list(itertools.chain(warned[:1], warned[:1]))
