"""What a process asks of the system, call by call."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.bench import worker
from pegasus_bb.bench.own import order
from pegasus_bb.bench.plan import Layout, Mode
from pegasus_bb.units import KIB

from .conftest import cell

LATER = float("inf")


class Calls:
    """Notes what is called, and does it without direct I/O, which some tiers refuse."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[tuple[Any, ...]] = []
        real = os.open, os.pwrite, os.fsync

        def open_(path: str, flags: int, mode: int) -> int:
            self.made.append(("open", bool(flags & os.O_DIRECT)))
            return real[0](path, flags & ~os.O_DIRECT, mode)

        def pwrite(handle: int, data: memoryview, at: int) -> int:
            self.made.append(("write", at, len(data)))
            return real[1](handle, data, at)

        def fsync(handle: int) -> None:
            self.made.append(("fsync",))
            real[2](handle)

        for name, call in (("open", open_), ("pwrite", pwrite), ("fsync", fsync)):
            monkeypatch.setattr(os, name, call)


@pytest.mark.parametrize(
    ("mode", "first", "last"),
    [
        (Mode.FSYNC, ("open", False), ("fsync",)),
        (Mode.DIRECT, ("open", True), ("write", 48 * KIB, 16 * KIB)),
        (Mode.BUFFERED, ("open", False), ("write", 48 * KIB, 16 * KIB)),
    ],
)
def test_a_mode_is_how_a_file_is_opened_and_left(
    mode: Mode,
    first: tuple[Any, ...],
    last: tuple[Any, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = Calls(monkeypatch)
    what = order("write", cell(mode=mode), str(tmp_path), 0, LATER)
    assert "ended" in worker.done(what, mmap.mmap(-1, 16 * KIB), 0.0)
    assert (calls.made[0], calls.made[-1]) == (first, last)


def test_nobody_writes_another_ones_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Calls(monkeypatch)
    shared = cell(layout=Layout.SHARED, mode=Mode.BUFFERED, block=40 * KIB)
    what = order("write", shared, str(tmp_path), 1, LATER)
    worker.done(what, mmap.mmap(-1, 16 * KIB), 0.0)
    assert calls.made[1:] == [
        ("write", 40 * KIB, 16 * KIB),
        ("write", 56 * KIB, 16 * KIB),
        ("write", 72 * KIB, 8 * KIB),
    ]
