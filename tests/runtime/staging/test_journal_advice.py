"""What a message advises fits the error: a disk that fails needs no room."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.stage_journal import StageJournal


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EIO, "look after the file system"),
        (errno.ENXIO, "mend that"),
    ],
)
def test_a_journal_that_cannot_be_written_advises_by_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, advice: str
) -> None:
    journal = StageJournal(str(tmp_path / "journal"), "from", "to")

    def fails(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(CopyFailed, match=f"{advice} and run it again$") as failure:
        journal.begin("1.abcdef")
    assert ("space" in str(failure.value).split(";")[1]) is ("space" in advice)
