"""Reads from memory say nothing of a tier, so they are recognised."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pegasus_bb.report.bench.session import drop


@pytest.fixture
def written(tmp_path: Path) -> str:
    (tmp_path / "data").write_bytes(b"x" * 100_000)
    (tmp_path / "data").read_bytes()
    return str(tmp_path)


@pytest.mark.parametrize(
    ("answer", "dropped"), [(errno.EAGAIN, True), (errno.EOPNOTSUPP, False)]
)
def test_the_answer_of_the_kernel_decides(
    answer: int, dropped: bool, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def preadv(*_: object) -> int:
        raise OSError(answer, os.strerror(answer))

    monkeypatch.setattr(os, "preadv", preadv)
    assert drop(written) is dropped


def test_storage_that_answers_one_sample_at_once_is_no_cache(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample is taken again after the file is dropped again."""
    answers = iter([4096])

    def preadv(*_: object) -> int:
        for answer in answers:
            return answer
        raise BlockingIOError

    monkeypatch.setattr(os, "preadv", preadv)
    assert drop(written)


def test_one_warm_file_makes_the_cell_warm(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(written, "more").write_bytes(b"")
    monkeypatch.setattr(os, "posix_fadvise", lambda *_: None)
    assert not drop(written)
