"""The figures of a study as words, the same in a terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pegasus_bb_lab.mix.paired import Estimate
from pegasus_bb_lab.mix.study import Result

_GIGA = 1e9
# Measure -> head of its column, decimals, factor.
_COLUMNS = {
    "min": ("min GB/s", 1, 1 / _GIGA),
    "max": ("max GB/s", 1, 1 / _GIGA),
    "mean": ("mean GB/s", 1, 1 / _GIGA),
    "median": ("median GB/s", 1, 1 / _GIGA),
    "productive": ("productive %", 2, 100.0),
    "lost_node_hours": ("lost, node-hours", 0, 1.0),
}
_DIFFERENCES = {
    "median": "median bandwidth, GB/s",
    "mean": "mean bandwidth, GB/s",
    "productive": "productive time, points",
    "lost_node_hours": "lost to faults, node-hours",
}


def case_rows(results: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    """A head, then each case: means and half of their intervals."""
    yield ("case", *(head for head, _, _ in _COLUMNS.values()))
    for result in results:
        cells = (
            _figure(result.estimate(key), decimals, factor)
            for key, (_, decimals, factor) in _COLUMNS.items()
        )
        yield (result.case.name, *cells)


def difference_rows(result: Result, base: Result) -> Iterator[tuple[str, str, str]]:
    """What differs, by how much, and whether that is a difference at all."""
    for key, what in _DIFFERENCES.items():
        found = result.against(base, key)
        _, decimals, factor = _COLUMNS[key]
        shown = _figure(found, decimals, factor)
        shown = shown if shown.startswith(("-", "none")) else f"+{shown}"
        yield what, shown, _verdict(found)


def _figure(found: Estimate | None, decimals: int, factor: float) -> str:
    if found is None:
        return "none"
    mean = f"{found.mean * factor:.{decimals}f}"
    if found.half is None:
        return mean
    return f"{mean} ±{found.half * factor:.{decimals}f}"


def _verdict(found: Estimate | None) -> str:
    if found is None:
        return ""
    if found.told_apart is None:
        return "one seed says nothing of chance"
    return "" if found.told_apart else "not told apart"
