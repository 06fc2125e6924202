"""What a file system refuses costs no bytes; a warning says once what was not kept."""

from __future__ import annotations

import errno
import json
import os
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest

from pegasus_bb.core.files import write_json
from pegasus_bb.runtime.staging.sync import sync
from tests.support.refused import CHMOD, LINK, SYMLINK, without

from .conftest import TwoTrees, items_of
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
    items = items_of(tmp_path, tmp_path)
    assert bool(sync(items, [], "1.abcdef")) is raises
    with pytest.raises(OSError) if raises else nullcontext():
        write_json(str(tmp_path / "note"), {})
