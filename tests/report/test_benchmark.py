"""A benchmark that is read back: what is none is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.mean_and_error import Stat
from pegasus_bb.report.benchmark import BenchCell, read_benchmark

CELL = {
    "mode": "fsync",
    "layout": "shared-file",
    "block": 4096,
    "processes": 2,
    "write": {"mean": 10.5, "error": None},
    "read": {},
}


def written(folder: Path, data: Any) -> Path:
    path = folder / "bench.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def of(cell: Any) -> dict[str, Any]:
    return {"version": 1, "tiers": [{"name": "bb", "cells": [cell]}]}


def test_a_benchmark_is_read_and_handed_on_unchanged(tmp_path: Path) -> None:
    found = read_benchmark(written(tmp_path, of(CELL)))
    assert found.document == of(CELL)
    rate = Stat(10.5, None, 1)
    assert found.cells == (
        BenchCell("bb", "fsync", "shared-file", 4096, 2, write=rate, read=None),
    )


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("{", "JSONDecodeError"),
        ({"version": 1}, "'tiers'"),
        ({"version": 2, "tiers": []}, "version 2"),
        ({"version": 1, "tiers": [{"name": "bb"}]}, "'cells'"),
        (of({**CELL, "block": "4 KiB"}), "'4 KiB' is no number"),
        (of({**CELL, "processes": 0}), "0 is no number"),
        (of({**CELL, "write": {"mean": "fast"}}), "'fast'"),
        (of({**CELL, "write": {"mean": 1e300}}), "no bytes per second"),
        (of("cell"), "TypeError"),
    ],
)
def test_what_is_no_benchmark_is_refused(tmp_path: Path, data: Any, found: str) -> None:
    with pytest.raises(CatalogError) as error:
        read_benchmark(written(tmp_path, data))
    assert "bench.json: not a benchmark" in str(error.value)
    assert found in str(error.value)
