"""A benchmark that is read back: what is none is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.model.stat import Stat
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
    ("data", "key"),
    [
        ("{", "no JSON"),
        ([], "tiers"),
        ({"version": 1}, "tiers"),
        ({"version": 2, "tiers": []}, "version"),
        ({"version": 1, "tiers": {}}, "tiers"),
        ({"version": 1, "tiers": [{"cells": []}]}, "tiers[0].name"),
        ({"version": 1, "tiers": [{"name": "bb"}]}, "tiers[0].cells"),
        (of({**CELL, "read": "fast"}), "tiers[0].cells[0]"),
        (of({**CELL, "block": "4 KiB"}), "tiers[0].cells[0]"),
        (of({**CELL, "processes": 0}), "tiers[0].cells[0]"),
        (of({**CELL, "write": {"mean": "fast"}}), "tiers[0].cells[0]"),
        (of({**CELL, "read": None}), "tiers[0].cells[0]"),
        (of({**CELL, "block": True}), "tiers[0].cells[0]"),
        (of({**CELL, "write": {"mean": 1e300}}), "tiers[0].cells[0]"),
        (of("cell"), "tiers[0].cells[0]"),
    ],
)
def test_what_is_no_benchmark_is_refused_with_its_key(
    tmp_path: Path, data: Any, key: str
) -> None:
    with pytest.raises(CatalogError) as error:
        read_benchmark(written(tmp_path, data))
    assert "bench.json: not a benchmark" in str(error.value)
    assert key in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json: cannot be read"):
        read_benchmark(tmp_path / "none.json")
