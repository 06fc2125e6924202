"""Copies in segments: each is durable before the next is asked for."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging import mover
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.folder_lfns import copy_path
from pegasus_bb.runtime.staging.mover import Mover
from pegasus_bb.runtime.staging.onefile import Copied
from pegasus_bb.runtime.staging.segments import Segments
from pegasus_bb.runtime.staging.sync import sync
from pegasus_bb.runtime.staging.writing import Writing

from .conftest import items_of

KIB = 1 << 10
MIB = 1 << 20


class Told(Segments):
    """Notes what is asked for, and what else happens between."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.events: list[str] = []
        self.taken: list[int] = []

    @property
    def size(self) -> int:
        return self._size

    @contextlib.contextmanager
    def take(self, size: int) -> Iterator[None]:
        self.events.append("begin")
        self.taken.append(size)
        yield
        self.events.append("end")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Segments of 256 KiB, with the syncs of data among their events."""
    found = Told(256 * KIB)
    real = os.fdatasync

    def fdatasync(handle: int) -> None:
        real(handle)
        found.events.append("durable")

    monkeypatch.setattr(os, "fdatasync", fdatasync)
    return found


def random_file(path: Path, size: int) -> str:
    data = os.urandom(size)
    path.write_bytes(data)
    return "sha256:" + hashlib.sha256(data).hexdigest()


def copy_told(source: Path, digest: bool, told: Told) -> Copied:
    """Copy a file or a folder to `copy` beside it."""
    dest = str(source.parent / "copy")
    return copy_path(str(source), dest, digest=digest, writing=Writing(told))


def moved(source: Path, dest: Path, segments: Segments | None) -> dict[str, str]:
    """Copy every file of ``source``: name -> digest of what has landed."""
    found = {}
    for outcome in Mover(segments=segments).move(items_of(source, dest)):
        assert outcome.landed, outcome.failure
        found[outcome.item.name] = outcome.landed.digest
    return found


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    source = tmp_path / "tier"
    dest = tmp_path / "pfs"
    source.mkdir()
    dest.mkdir()
    return source, dest


@pytest.mark.parametrize("digest", [True, False])
def test_each_segment_is_durable_before_the_next(
    told: Told, tmp_path: Path, digest: bool
) -> None:
    wanted = random_file(tmp_path / "result", 700 * KIB)
    copied = copy_told(tmp_path / "result", digest, told)
    assert told.events == ["begin", "durable", "end"] * 3
    assert told.taken == [256 * KIB, 256 * KIB, 188 * KIB]
    assert copied.digest == (wanted if digest else "")


def test_small_files_are_taken_together_and_are_durable_then(
    told: Told, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, dest = folders
    wanted = {f"f{n}": random_file(source / f"f{n}", 4 * KIB) for n in range(100)}
    real = sync

    def told_sync(*arguments: object) -> object:
        told.events.append("durable")
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(mover, "sync", told_sync)
    assert moved(source, dest, told) == wanted
    assert sum(told.taken) == 400 * KIB
    assert len(told.taken) == 2, "a batch is as large as a segment"
    begun = [number for number, e in enumerate(told.events) if e == "begin"]
    assert len(begun) == told.events.count("durable")


def test_a_batch_that_the_disk_cannot_keep_fails(
    told: Told, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk says so once, to the first sync: the segment's."""
    (folders[0] / "small").write_bytes(b"result")

    def broken(named: object, copied: list[object], tag: str) -> dict[int, OSError]:
        error = OSError(errno.EIO, os.strerror(errno.EIO))
        return {id(item): error for item in copied}

    monkeypatch.setattr(mover, "sync", broken)
    (outcome,) = Mover(segments=told).move(items_of(*folders))
    assert outcome.landed is None
    assert isinstance(outcome.failure, CopyFailed)
