"""Bandwidth by processes: of the runs, and of a benchmark.

Ferreira da Silva et al. 2019, Figs. 10 and 11; Figs. 4 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.model.mean_and_error import Stat
from pegasus_bb.report.benchmark import BenchCell
from pegasus_bb.report.columns import RATIO
from pegasus_bb.report.page.charts import sides
from pegasus_bb.report.page.drawings import line_chart
from pegasus_bb.report.page.figure import (
    Chart,
    Column,
    DataRow,
    Dataset,
    Figure,
    format_quantity,
)
from pegasus_bb.report.report_document import Comparison, Row

_RUNS = "Bandwidth and gain by processes"
_NO_RUNS = (
    "Left out: no transformation ran with several numbers of processes. Give runs of "
    "each number, with Darshan logs, as --pfs or --bb."
)
_OF_RUNS = (
    "Bandwidth is that of the slowest process. Gain is bandwidth to that of the fewest "
    "processes of the same side."
)
_BENCHMARK = "Bandwidth by block size and processes"
_NO_BENCHMARK = (
    "Left out: no benchmark was given. `pegasus-bb bench --tier DIR --tier DIR --json "
    ">bench.json` measures one, --bench bench.json shows it here."
)
_OF_BENCHMARK = (
    "Bytes of all processes per second, measured by `pegasus-bb bench`, not by the "
    "runs above. Lines are the standard error."
)
_PROCESSES = Column("processes", "processes", "processes")
_RATES = (
    Column("bandwidth", "bandwidth", "B/s"),
    Column("bandwidth_error", "standard error", "B/s"),
)
_RUN_COLUMNS = (
    _PROCESSES,
    Column("series", "side"),
    *_RATES,
    Column("gain", "gain", RATIO),
)
_CELL_COLUMNS = (
    Column("series", "tier"),
    Column("block", "block", "B"),
    _PROCESSES,
    *_RATES,
)


def by_processes(comparison: Comparison) -> Figure:
    """Draw bandwidth and gain for each transformation, layer and direction."""
    found: dict[str, list[DataRow]] = {}
    for row in comparison.widths:
        for way in ("write", "read"):
            name = f"{row.name}, {row.layer}, {way}"
            found.setdefault(name, []).extend(_run_rows(row, way))
    data = {name: Dataset(_RUN_COLUMNS, rows) for name, rows in found.items() if rows}
    if not data:
        return Figure("processes", _RUNS, _NO_RUNS)
    charts = tuple(
        line_chart(each, f"{name}: {key}", key, unit)
        for name, each in data.items()
        for key, unit in (("bandwidth", "B/s"), ("gain", RATIO))
    )
    tables = tuple(each.table(name) for name, each in data.items())
    return Figure("processes", _RUNS, _OF_RUNS, charts, tables, side_by_side=True)


def _run_rows(row: Row, way: str) -> Iterator[DataRow]:
    gain = row.gains[f"{way}_gain"]
    processes = row.cells["processes"].larger
    for side, rate in sides(row.cells[f"{way}_bandwidth"]):
        yield {
            "processes": processes,
            "series": side,
            **_rate(rate),
            "gain": gain["pfs" if side == "PFS" else "bb"],
        }


def benchmark(comparison: Comparison) -> Figure:
    """Draw a chart for each mode, layout, direction and block."""
    found: dict[str, list[DataRow]] = {}
    for cell in comparison.benchmark.cells if comparison.benchmark else ():
        for way, rate in (("write", cell.write), ("read", cell.read)):
            if rate:
                kind = f"{way}, {cell.mode}, {cell.layout}"
                found.setdefault(kind, []).append(_cell_row(cell, rate))
    data = {kind: Dataset(_CELL_COLUMNS, rows) for kind, rows in found.items()}
    if not data:
        return Figure("benchmark", _BENCHMARK, _NO_BENCHMARK)
    charts = tuple(c for kind, each in data.items() for c in _by_block(kind, each))
    tables = tuple(each.table(kind) for kind, each in data.items())
    return Figure(
        "benchmark", _BENCHMARK, _OF_BENCHMARK, charts, tables, side_by_side=True
    )


def _by_block(kind: str, data: Dataset) -> Iterator[Chart]:
    highest = max(r["bandwidth"] + (r["bandwidth_error"] or 0.0) for r in data.rows)
    for block in sorted({row["block"] for row in data.rows}):
        of_block = [row for row in data.rows if row["block"] == block]
        title = f"{kind}, block {format_quantity(block, 'B')}"
        drawn = Dataset(_CELL_COLUMNS, of_block)
        yield line_chart(drawn, title, "bandwidth", "B/s", highest)


def _cell_row(cell: BenchCell, rate: Stat) -> DataRow:
    where = {"series": cell.tier, "block": cell.block, "processes": cell.processes}
    return {**where, **_rate(rate)}


def _rate(rate: Stat) -> DataRow:
    return {"bandwidth": rate.mean, "bandwidth_error": rate.error}
