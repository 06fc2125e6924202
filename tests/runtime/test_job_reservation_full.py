"""No room for temporary files: another folder is taken, or the reason is said."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pegasus_bb.runtime.records import streams


def test_a_full_folder_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def full(handle: int, data: bytes) -> int:
        if Path(f"/proc/self/fd/{handle}").readlink().parent == tmp_path:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(streams.os, "write", full)
    handle, name = streams.temporary("out", {"TMPDIR": str(tmp_path)})
    assert Path(name).parent != tmp_path
    assert os.fstat(handle).st_size == 0, "what was tried is not in it"
    assert list(tmp_path.iterdir()) == []
    os.close(handle)
