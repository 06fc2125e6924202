"""Our own engine: its processes write what they shall, and a failure names them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import NotMeasured
from pegasus_bb.core.units import KIB, MIB
from pegasus_bb.report.bench import bench_worker
from pegasus_bb.report.bench.built_in_engine import BuiltInBenchmark
from pegasus_bb.report.bench.cells import Cell

from .conftest import cell


@pytest.fixture
def own() -> Iterator[BuiltInBenchmark]:
    made = BuiltInBenchmark(2)
    yield made
    made.close()


def test_each_writes_its_own_file_and_reads_it(
    own: BuiltInBenchmark, tmp_path: Path
) -> None:
    """With a size that is no multiple of a call's."""
    what = cell(block=2 * MIB + 8 * KIB)
    assert own.write(what, str(tmp_path)) > 0
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == ["data.00000000", "data.00000001"]
    assert {path.stat().st_size for path in files} == {what.block}
    assert own.read(what, str(tmp_path)) > 0


def failing(own: BuiltInBenchmark, tmp_path: Path, what: Cell) -> str:
    with pytest.raises(NotMeasured) as caught:
        own.write(what, str(tmp_path))
        own.read(what, str(tmp_path))
    return str(caught.value)


def test_a_process_that_cannot_write_is_named(
    own: BuiltInBenchmark, tmp_path: Path
) -> None:
    (tmp_path / "data.00000001").mkdir()
    said = failing(own, tmp_path, cell())
    path = f"{tmp_path}/data.00000001"
    assert said == f"process 1 of 2: write {path}: Is a directory"


def test_a_write_counts_once_it_is_on_the_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[Any, ...]] = []
    pwrite = os.pwrite
    fsync = os.fsync

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
    answer = bench_worker.run(order, bytearray(16 * KIB), 0.0)
    assert answer["ended"] >= answer["began"]
    assert made == [
        ("write", 0, 16 * KIB),
        ("write", 12 * KIB, 4 * KIB),
        ("write", 16 * KIB, 8 * KIB),
        ("fsync",),
    ]
