"""Where a file system shares what is copied, nothing is written, and nothing waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.runtime.staging.pour import _clone


def skip_if_shared(folder: Path) -> None:
    """Skip a test about the pace of copies where there is none."""
    one = folder / "one"
    two = folder / "two"
    with one.open("wb+") as source, two.open("wb") as copy:
        source.write(b"x")
        source.flush()
        is_shared = _clone(source.fileno(), copy.fileno())
    for file in (one, two):
        file.unlink()
    if is_shared:
        pytest.skip("this file system shares what is copied: nothing is written")
