"""What `pegasus-bb bench --json` has written, read back and looked over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.errors import CatalogError, UsageError

VERSION = 1
_LIMIT = 64 << 20  # bytes
_MOST = 1e18  # of any number
_WORDS = ("mode", "layout")
_COUNTS = ("block", "processes")


def read_benchmark(path: Path) -> dict[str, Any]:
    """The document at ``path``. Raises UsageError where it is none of a benchmark."""
    try:
        with path.open("rb") as source:
            text = source.read(_LIMIT + 1)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read ({error.strerror}); name a file that `pegasus-bb "
            "bench --json` has written"
        ) from error
    try:
        found = orjson.loads(text)
    except ValueError as error:
        raise _wrong(path, "", f"no JSON: {error}") from error
    if not isinstance(found, dict) or "tiers" not in found:
        raise _wrong(path, "tiers", "a document without it")
    if found.get("version") != VERSION:
        raise _wrong(path, "version", repr(found.get("version")))
    if not isinstance(found["tiers"], list):
        raise _wrong(path, "tiers", _short(found["tiers"]))
    for number, tier in enumerate(found["tiers"]):
        _look_over(path, tier, f"tiers[{number}]")
    return found


def _look_over(path: Path, tier: Any, key: str) -> None:
    if not isinstance(tier, dict) or not isinstance(tier.get("name"), str):
        raise _wrong(path, f"{key}.name", _short(tier))
    cells = tier.get("cells")
    if not isinstance(cells, list):
        raise _wrong(path, f"{key}.cells", _short(cells))
    for number, cell in enumerate(cells):
        if not isinstance(cell, dict) or not _is_cell(cell):
            raise _wrong(path, f"{key}.cells[{number}]", _short(cell))


def _is_cell(cell: dict[str, Any]) -> bool:
    return (
        all(isinstance(cell.get(word), str) for word in _WORDS)
        and all(
            isinstance(cell.get(word), int) and _is_rate(cell[word]) for word in _COUNTS
        )
        and all(cell[word] for word in _COUNTS)
        and all(_is_figure(cell.get(way)) for way in ("write", "read"))
    )


def _is_figure(figure: Any) -> bool:
    if not isinstance(figure, dict):
        return False
    mean, error = figure.get("mean"), figure.get("error")
    return (mean is None or _is_rate(mean)) and (error is None or _is_rate(error))


def _is_rate(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < _MOST


def _short(found: Any) -> str:
    return repr(found)[:80]


def _wrong(path: Path, key: str, found: str) -> CatalogError:
    return CatalogError(
        "not a benchmark",
        file=str(path),
        key=key,
        found=found,
        would_do=f"what `pegasus-bb bench --json` has written, version {VERSION}",
    )
