"""Reads and checks what `pegasus-bb bench --json` has written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.model.mean_and_error import Stat

VERSION = 1
_MOST = 1e18  # of any number


@dataclass(frozen=True, slots=True)
class BenchCell:
    """One combination that was measured on one tier."""

    tier: str
    mode: str
    layout: str
    block: int  # bytes
    processes: int
    write: Stat | None  # bytes per second
    read: Stat | None


@dataclass(frozen=True, slots=True)
class Benchmark:
    document: Mapping[str, Any]  # as it was read
    cells: tuple[BenchCell, ...]


def read_benchmark(path: Path) -> Benchmark:
    """Read the benchmark at ``path``. Raises UsageError if it is none."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read ({error.strerror}); name a file that `pegasus-bb "
            "bench --json` has written"
        ) from error
    try:
        document = orjson.loads(text)
        if document["version"] != VERSION:
            raise ValueError(f"version {document['version']!r}")
        tiers = document["tiers"]
        cells = tuple(_cell(tier, cell) for tier in tiers for cell in tier["cells"])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise CatalogError(
            "not a benchmark",
            file=str(path),
            found=f"{type(error).__name__}: {error}"[:200],
            would_do=f"what `pegasus-bb bench --json` has written, version {VERSION}",
        ) from error
    return Benchmark(document, cells)


def _cell(tier: Any, cell: Any) -> BenchCell:
    block = cell["block"]
    processes = cell["processes"]
    for count in (block, processes):
        if type(count) is not int or not 0 < count < _MOST:
            raise ValueError(f"{count!r} is no number of bytes or processes")
    return BenchCell(
        str(tier["name"]),
        str(cell["mode"]),
        str(cell["layout"]),
        block,
        processes,
        _rate(cell["write"]),
        _rate(cell["read"]),
    )


def _rate(figure: Any) -> Stat | None:
    """Return None if it was not measured."""
    mean = figure.get("mean")
    if mean is None:
        return None
    error = figure.get("error")
    known = [float(number) for number in (mean, error) if number is not None]
    if not all(0 <= number < _MOST for number in known):
        raise ValueError(f"{known} are no bytes per second")
    return Stat(known[0], None if error is None else known[1], int(figure.get("n", 1)))
