"""Whatever way the bytes go, and wherever it ends, all of them arrive."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging import moves
from pegasus_bb.runtime.staging import pour as pouring
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.onefile import copy_file, digest_file

SIZE = (5 << 20) + 123
Refusal = Callable[..., int]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(os.urandom(SIZE))
    return path


def poured(source: Path, digest: bool) -> pouring.Poured:
    with source.open("rb") as text, source.with_name("copy").open("wb") as out:
        return pouring.pour(
            text.fileno(),
            out.fileno(),
            SIZE,
            sparse=False,
            digest=SHA256 if digest else None,
        )


def same(source: Path) -> bool:
    return source.with_name("copy").read_bytes() == source.read_bytes()


@pytest.fixture(autouse=True)
def no_reflink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pouring, "_clone", lambda source, out: False)


def after(good: int, then: int) -> Callable[[Refusal], Refusal]:
    """Lets ``good`` calls through, of 1 MiB each; then fails, or says 0."""

    def around(way: Refusal) -> Refusal:
        calls = iter(range(good))

        def call(source: int, out: int, offset: int, length: int) -> int:
            if next(calls, None) is None:
                if then == 0:
                    return 0
                raise OSError(then, os.strerror(then))
            return way(source, out, offset, min(length, 1 << 20))

        return call

    return around


@pytest.mark.parametrize("good", [0, 1, 3])
@pytest.mark.parametrize(
    "then", [0, errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS, errno.EPERM]
)
def test_each_way_goes_on_where_the_one_before_stopped(
    source: Path, monkeypatch: pytest.MonkeyPatch, good: int, then: int
) -> None:
    for name in ("_copy_file_range", "_sendfile"):
        way = getattr(moves, name)
        monkeypatch.setattr(moves, name, after(good, then)(way))
    if good == 3:  # 3 + 3 MiB are enough
        monkeypatch.setattr(moves, "_read_and_write", None)
    assert poured(source, digest=False).size == SIZE
    assert same(source)


def test_a_real_failure_is_no_reason_for_another_way(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = after(1, errno.EIO)(moves._copy_file_range)
    monkeypatch.setattr(moves, "_copy_file_range", fails)
    with pytest.raises(OSError, match="Input/output error"):
        poured(source, digest=False)


def test_a_shared_extent_is_hashed_as_well(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def clone(handle: int, out: int) -> bool:
        os.sendfile(out, handle, 0, SIZE)
        return True

    monkeypatch.setattr(pouring, "_clone", clone)
    done = poured(source, digest=True)
    expected = hashlib.sha256(source.read_bytes()).hexdigest()
    assert done.digest == f"sha256:{expected}"
    assert same(source)


@pytest.mark.parametrize("digest", [True, False])
def test_holes_in_every_place(tmp_path: Path, digest: bool) -> None:
    source = tmp_path / "sparse"
    with source.open("wb") as out:
        for place in (20 << 20, 40 << 20):
            out.seek(place)
            out.write(b"data")
        out.truncate(60 << 20)
    copied = copy_file(str(source), str(tmp_path / "copy"), digest=digest)
    assert copied.stat.st_blocks * 512 < 1 << 20
    assert copied.size == 60 << 20
    assert (tmp_path / "copy").read_bytes() == source.read_bytes()
    if digest:
        expected = hashlib.sha256(source.read_bytes()).hexdigest()
        assert copied.digest == f"sha256:{expected}" == digest_file(str(source))


def test_more_than_four_gib_of_hole(tmp_path: Path) -> None:
    source = tmp_path / "huge"
    with source.open("wb") as out:
        out.seek(5 << 30)
        out.write(b"end")
    copied = copy_file(str(source), str(tmp_path / "copy"), digest=False)
    assert copied.size == (5 << 30) + 3
    with (tmp_path / "copy").open("rb") as copy:
        copy.seek(5 << 30)
        assert copy.read() == b"end"
