"""The cases of a study as a table, and how each differs from the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pegasus_bb.columns import columns

if TYPE_CHECKING:  # NumPy is slow to load, and may be missing
    from pegasus_bb.simulation.mix.compare import Estimate
    from pegasus_bb.simulation.mix.study import Result

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


def study_lines(results: Sequence[Result]) -> Iterator[str]:
    n, base = len(results[0].outcomes), results[0]
    yield f"{n} {'seed' if n == 1 else 'seeds'}, mean" + _interval_note(n)
    yield from _table(results)
    for result in results:
        if result.incomplete:
            yield (
                f"{result.case.name}: {result.incomplete} of {n} campaigns were given "
                "up; they took ten times the time that they need without faults"
            )
        on_pfs = result.estimate("dumps_on_pfs")
        if on_pfs is not None and on_pfs.mean:
            yield (
                f"{result.case.name}: {on_pfs.mean:.0f} checkpoints of a campaign "
                "found no room on the buffer and went to the PFS"
            )
    for result in results[1:]:
        yield ""
        yield f"{result.case.name}, against {base.case.name}:"
        yield from _difference_lines(result, base)


def _interval_note(n: int) -> str:
    return " and half of its 95 % confidence interval" if n > 1 else ""


def _table(results: Sequence[Result]) -> list[str]:
    rows = [("case", *(head for head, _, _ in _COLUMNS.values()))]
    for result in results:
        cells = (
            _figure(result.estimate(key), decimals, factor)
            for key, (_, decimals, factor) in _COLUMNS.items()
        )
        rows.append((result.case.name, *cells))
    return columns(rows, right=range(1, len(rows[0])))


def _figure(found: Estimate | None, decimals: int, factor: float) -> str:
    if found is None:
        return "none"
    mean = f"{found.mean * factor:.{decimals}f}"
    if found.half is None:
        return mean
    return f"{mean} ±{found.half * factor:.{decimals}f}"


def _difference_lines(result: Result, base: Result) -> list[str]:
    rows = []
    for key, what in _DIFFERENCES.items():
        found = result.against(base, key)
        _, decimals, factor = _COLUMNS[key]
        shown = _figure(found, decimals, factor)
        shown = shown if shown.startswith(("-", "none")) else f"+{shown}"
        rows.append((f"  {what}", shown, _verdict(found)))
    return columns(rows, right=(1,))


def _verdict(found: Estimate | None) -> str:
    if found is None:
        return ""
    if found.told_apart is None:
        return "one seed says nothing of chance"
    return "" if found.told_apart else "not told apart"
