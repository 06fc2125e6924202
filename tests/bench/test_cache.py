"""Reads that come out of memory say nothing of a tier, and are known for it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pegasus_bb.bench.cache import Cache, drop, worse


@pytest.fixture
def written(tmp_path: Path) -> str:
    (tmp_path / "data").write_bytes(b"x" * 100_000)
    (tmp_path / "data").read_bytes()
    return str(tmp_path)


def test_what_the_kernel_keeps_is_seen(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "posix_fadvise", lambda *_: None)
    # A file system that does not tell is no reason to believe in an empty cache.
    assert drop(written) in (Cache.WARM, Cache.UNKNOWN)


@pytest.mark.parametrize(
    ("answer", "found"),
    [(errno.EAGAIN, Cache.DROPPED), (errno.EOPNOTSUPP, Cache.UNKNOWN)],
)
def test_what_it_answers_is_what_is_believed(
    answer: int, found: Cache, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def preadv(*_: object) -> int:
        raise OSError(answer, os.strerror(answer))

    monkeypatch.setattr(os, "preadv", preadv)
    assert drop(written) is found


def test_storage_that_answers_at_once_is_no_cache(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Now and then it does; what is asked for again then is not there."""
    answers = iter([4096])

    def preadv(*_: object) -> int:
        for answer in answers:
            return answer
        raise BlockingIOError

    monkeypatch.setattr(os, "preadv", preadv)
    assert drop(written) is Cache.DROPPED


def test_one_file_that_stayed_is_enough(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(written, "more").write_bytes(b"")
    monkeypatch.setattr(os, "posix_fadvise", lambda *_: None)
    assert drop(written) is not Cache.DROPPED


def test_the_worst_is_what_counts() -> None:
    assert worse(Cache.DROPPED, Cache.WARM) is Cache.WARM
    assert worse(Cache.UNKNOWN, Cache.PAST) is Cache.UNKNOWN
