"""A name never stands for half a file."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging import onefile as copying
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.folder_lfns import copy_path, digest_path
from pegasus_bb.runtime.staging.onefile import copy_file


def parts(folder: Path) -> list[str]:
    return [name for name in names(folder) if name.endswith(".part")]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(b"first results\n" * 1000)
    return path


def test_the_same_size_and_time_do_not_make_it_the_same_file(
    source: Path, tmp_path: Path
) -> None:
    stale = tmp_path / "dest"
    stale.write_bytes(b"X" * source.stat().st_size)
    os.utime(stale, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    copy_file(str(source), str(stale))
    assert stale.read_bytes() == source.read_bytes()


def test_an_inode_number_alone_does_not_make_it_the_same_file(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of another device may well have our inode number."""
    stale = tmp_path / "dest"
    stale.write_bytes(b"stale")
    real = os.lstat
    monkeypatch.setattr(copying.os, "lstat", lambda path: _twin(real(path), source))
    copy_file(str(source), str(stale))
    assert stale.read_bytes() == source.read_bytes()


def _twin(found: os.stat_result, source: Path) -> os.stat_result:
    values = list(found)
    values[1], values[2] = source.stat().st_ino, source.stat().st_dev + 1
    return os.stat_result(values)


def test_a_source_that_changed_once_is_copied_again(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = iter([b"one more line\n"])
    grow(source, changes, monkeypatch)
    copied = copy_file(str(source), str(tmp_path / "copy"))
    assert (tmp_path / "copy").read_bytes() == source.read_bytes()
    assert copied.size == source.stat().st_size


def test_a_source_that_keeps_changing_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(source, iter([b"x", b"x", b"x"]), monkeypatch)
    with pytest.raises(CopyFailed, match="changed while it was copied"):
        copy_file(str(source), str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()
    assert parts(tmp_path) == []


def grow(source: Path, changes: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Append to ``source`` in the middle of each copy."""
    pour = copying.pour

    def and_grow(*arguments: object, **more: object) -> copying.Poured:
        done = pour(*arguments, **more)  # type: ignore[arg-type]
        with source.open("ab") as out:
            out.write(next(changes, b""))  # type: ignore[call-overload]
        return done

    monkeypatch.setattr(copying, "pour", and_grow)


@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind(str(path))
    else:
        path = Path("/dev/zero")
    with pytest.raises(CopyFailed, match=r"not a regular file|No such device"):
        copy_file(str(path), str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


class TestFolders:
    """A folder as an LFN."""

    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        tree = tmp_path / "tree"
        (tree / "deep" / "er").mkdir(parents=True)
        (tree / "empty").mkdir()
        (tree / "deep" / "er" / "f").write_text("data")
        (tree / "run").write_text("#!")
        (tree / "run").chmod(0o755)
        (tree / "outside").symlink_to("/etc/hostname")
        (tree / "broken").symlink_to("nowhere")
        return tree

    def test_comes_whole_with_links_as_links(self, tree: Path, tmp_path: Path) -> None:
        copied = copy_path(str(tree), str(tmp_path / "copy"))
        copy = tmp_path / "copy"
        assert (copy / "deep" / "er" / "f").read_text() == "data"
        assert (copy / "empty").is_dir()
        assert os.access(copy / "run", os.X_OK)
        assert str((copy / "outside").readlink()) == "/etc/hostname"
        assert str((copy / "broken").readlink()) == "nowhere"
        assert copied.size == 6
        assert copied.digest == digest_path(str(tree)) == digest_path(str(copy))
        assert parts(tmp_path) == []

    def test_any_change_changes_its_digest(self, tree: Path) -> None:
        seen = {digest_path(str(tree))}
        for change in (
            lambda: (tree / "deep" / "er" / "f").write_text("Data"),
            (tree / "empty").rmdir,
            lambda: (tree / "run").rename(tree / "ran"),
        ):
            change()
            seen.add(digest_path(str(tree)))
        assert len(seen) == 4

    def test_what_was_there_stays_where_the_last_step_fails(
        self, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dest = tmp_path / "copy"
        dest.write_text("older")
        rename = os.rename
        was = dest.stat().st_ino

        def fails(old: str, new: str, **folders: int) -> None:
            if new == str(dest) and os.lstat(old).st_ino != was:
                raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
            rename(old, new, **folders)

        monkeypatch.setattr("os.rename", fails)
        with pytest.raises(CopyFailed, match="quota"):
            copy_path(str(tree), str(dest))
        assert dest.stat().st_ino == was
        assert parts(tmp_path) == []
