"""The system calls of one process of our own engine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.bench import worker
from pegasus_bb.units import KIB


def test_a_write_counts_once_it_is_on_the_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[Any, ...]] = []
    pwrite, fsync = os.pwrite, os.fsync

    def write(handle: int, data: memoryview, at: int) -> int:
        made.append(("write", at, len(data)))
        return pwrite(handle, data[: 12 * KIB], at)  # a full file system takes a part

    monkeypatch.setattr(os, "pwrite", write)
    monkeypatch.setattr(os, "fsync", lambda h: made.append(("fsync",)) or fsync(h))
    order: dict[str, Any] = {
        "do": "write",
        "path": str(tmp_path / "data"),
        "block": 24 * KIB,
    }
    order["transfer"] = 16 * KIB
    answer = worker.run(order, bytearray(16 * KIB), 0.0)
    assert answer["ended"] >= answer["began"]
    assert made == [
        ("write", 0, 16 * KIB),
        ("write", 12 * KIB, 4 * KIB),
        ("write", 16 * KIB, 8 * KIB),
        ("fsync",),
    ]
