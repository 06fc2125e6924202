"""Reads and checks what `pegasus-bb bench --json` has written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.model.stat import Stat

VERSION = 1
_LIMIT = 64 << 20  # bytes
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
    document = _document(path)
    cells = tuple(
        cell
        for number, tier in enumerate(document["tiers"])
        for cell in _cells(path, tier, f"tiers[{number}]")
    )
    return Benchmark(document, cells)


def _document(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as source:
            text = source.read(_LIMIT + 1)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read ({error.strerror}); name a file that `pegasus-bb "
            "bench --json` has written"
        ) from error
    try:
        document = orjson.loads(text)
    except ValueError as error:
        raise _wrong(path, "", f"no JSON: {error}") from error
    if not isinstance(document, dict) or "tiers" not in document:
        raise _wrong(path, "tiers", "a document without it")
    if document.get("version") != VERSION:
        raise _wrong(path, "version", document.get("version"))
    if not isinstance(document["tiers"], list):
        raise _wrong(path, "tiers", document["tiers"])
    return document


def _cells(path: Path, tier: Any, key: str) -> Iterator[BenchCell]:
    if not isinstance(tier, dict) or not isinstance(tier.get("name"), str):
        raise _wrong(path, f"{key}.name", tier)
    cells = tier.get("cells")
    if not isinstance(cells, list):
        raise _wrong(path, f"{key}.cells", cells)
    for number, cell in enumerate(cells):
        try:
            yield _cell(tier["name"], cell)
        except (KeyError, TypeError):
            raise _wrong(path, f"{key}.cells[{number}]", cell) from None


def _cell(tier: str, cell: Any) -> BenchCell:
    return BenchCell(
        tier,
        _text(cell["mode"]),
        _text(cell["layout"]),
        _positive(cell["block"]),
        _positive(cell["processes"]),
        _rate(cell["write"]),
        _rate(cell["read"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _positive(value: Any) -> int:
    if not isinstance(value, int) or not _number(value):
        raise TypeError
    return value


def _rate(figure: Any) -> Stat | None:
    """Return None if it was not measured."""
    if not isinstance(figure, dict):
        raise TypeError
    mean = figure.get("mean")
    error = figure.get("error")
    error = None if error is None else _number(error)
    repetitions = figure.get("n")
    n = repetitions if isinstance(repetitions, int) else 1
    return None if mean is None else Stat(_number(mean), error, n)


def _number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < _MOST:
        raise TypeError
    return float(value)


def _wrong(path: Path, key: str, found: Any) -> CatalogError:
    return CatalogError(
        "not a benchmark",
        file=str(path),
        key=key,
        found=found if isinstance(found, str) else repr(found)[:80],
        would_do=f"what `pegasus-bb bench --json` has written, version {VERSION}",
    )
