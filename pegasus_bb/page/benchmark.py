"""Bandwidth by block and processes (Ferreira da Silva et al. 2017, Figs. 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.model.stat import Stat
from pegasus_bb.page.charts import Chart
from pegasus_bb.page.dataset import Column, Dataset, Row
from pegasus_bb.page.figure import Figure, table
from pegasus_bb.page.lines import line_chart
from pegasus_bb.page.quantity import format_quantity
from pegasus_bb.report.benchmark import BenchCell
from pegasus_bb.report.document import Comparison

_TITLE = "Bandwidth by block size and processes"
_MISSING = (
    "Left out: no benchmark was given. `pegasus-bb bench --tier DIR --tier DIR --json "
    ">bench.json` measures one, --bench bench.json shows it here."
)
_ABOUT = (
    "Bytes of all processes per second, measured by `pegasus-bb bench`, not by the "
    "runs above. Lines are the standard error."
)
_COLUMNS = (
    Column("series", "tier"),
    Column("block", "block", "B"),
    Column("processes", "processes", "processes"),
    Column("mean", "bandwidth", "B/s"),
    Column("mean_error", "standard error", "B/s", axis="mean"),
)


def benchmark(comparison: Comparison) -> Figure:
    """A chart for each mode, layout, direction and block."""
    found: dict[str, list[Row]] = {}
    for cell in comparison.benchmark.cells if comparison.benchmark else ():
        for way, rate in (("write", cell.write), ("read", cell.read)):
            if rate:
                kind = f"{way}, {cell.mode}, {cell.layout}"
                found.setdefault(kind, []).append(_row(cell, rate))
    data = {kind: Dataset(_COLUMNS, rows) for kind, rows in found.items()}
    if not data:
        return Figure("benchmark", _TITLE, _MISSING)
    charts = tuple(c for kind, each in data.items() for c in _charts(kind, each))
    tables = tuple(table(kind, each) for kind, each in data.items())
    return Figure("benchmark", _TITLE, _ABOUT, charts, tables, side_by_side=True)


def _charts(kind: str, data: Dataset) -> Iterator[Chart]:
    """One for each block; all have the same axis."""
    highest = max(row["mean"] + (row["mean_error"] or 0.0) for row in data.rows)
    for block in sorted({row["block"] for row in data.rows}):
        of_block = [row for row in data.rows if row["block"] == block]
        title = f"{kind}, block {format_quantity(block, 'B')}"
        yield line_chart(Dataset(_COLUMNS, of_block), title, "mean", highest)


def _row(cell: BenchCell, rate: Stat) -> Row:
    return {
        **{"series": cell.tier, "block": cell.block, "processes": cell.processes},
        **{"mean": rate.mean, "mean_error": rate.error},
    }
