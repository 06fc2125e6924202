"""A digest is of what was written, whichever thread reads the bytes, and when."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging import hashing, moves, pour
from pegasus_bb.runtime.staging.onefile import copy_file

STEP = 1 << 20
SIZE = 9 * STEP + 77


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(os.urandom(SIZE))
    return path


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which way each step went, of files that are hashed in small steps."""
    monkeypatch.setattr(moves, "STEP", STEP)
    monkeypatch.setattr(hashing, "_ALONE", 0)
    monkeypatch.setattr(pour, "_clone", lambda source, out: False)
    seen: list[str] = []
    for place, name in ((hashing, "move"), (hashing._Hasher, "_read_hash_write")):
        monkeypatch.setattr(place, name, noted(getattr(place, name), seen))
    return seen


def noted(way: Callable[..., int], seen: list[str]) -> Callable[..., int]:
    def call(*arguments: object) -> int:
        seen.append(way.__name__)
        return way(*arguments)

    return call


def copied(source: Path) -> bool:
    dest = source.with_name("copy")
    digest = copy_file(str(source), str(dest)).digest
    expected = hashlib.sha256(source.read_bytes()).hexdigest()
    return digest == f"sha256:{expected}" and dest.read_bytes() == source.read_bytes()


class Sometimes:
    """The others come and go: a third of the steps finds no processor left over."""

    def __init__(self, turns: int) -> None:
        self._left, self._turns = turns, turns

    def count(self, more: int) -> None:
        pass

    @property
    def are_too_many(self) -> bool:
        self._left = (self._left or self._turns) - 1
        return self._left == 0


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_the_way_may_change_with_every_step(
    source: Path, ways: list[str], monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    monkeypatch.setattr(hashing, "_HASHED_FILES", Sometimes(turns))
    assert copied(source)
    assert ways.count("_read_hash_write") == 10 // turns
    assert len(ways) == 10
