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
