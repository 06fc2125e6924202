"""Bandwidth and gain by processes (Ferreira da Silva et al. 2017, Figs. 10 and 11)."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.page.charts import Chart, sides
from pegasus_bb.page.dataset import Column, Dataset, Row
from pegasus_bb.page.figure import Figure, table
from pegasus_bb.page.lines import line_chart
from pegasus_bb.page.quantity import RATIO
from pegasus_bb.report.document import Comparison
from pegasus_bb.report.document import Row as WidthRow

_TITLE = "Bandwidth and gain by processes"
_MISSING = (
    "Left out: no transformation ran with several numbers of processes. Give runs of "
    "each number, with Darshan logs, as --pfs or --bb."
)
_ABOUT = (
    "Bandwidth is that of the slowest process. Gain is bandwidth to that of the fewest "
    "processes of the same side."
)
_COLUMNS = (
    Column("processes", "processes", "processes"),
    Column("series", "side"),
    Column("bandwidth", "bandwidth", "B/s"),
    Column("bandwidth_error", "standard error", "B/s", axis="bandwidth"),
    Column("gain", "gain", RATIO),
)


def by_processes(comparison: Comparison) -> Figure:
    """For each transformation, layer and direction: bandwidth, and gain beside it."""
    found: dict[str, list[Row]] = {}
    for row in comparison.widths:
        for way in ("write", "read"):
            name = f"{row.name}, {row.layer}, {way}"
            found.setdefault(name, []).extend(_rows(row, way))
    data = {name: Dataset(_COLUMNS, rows) for name, rows in found.items() if rows}
    if not data:
        return Figure("processes", _TITLE, _MISSING)
    charts = tuple(c for name, each in data.items() for c in _charts(name, each))
    tables = tuple(table(name, each) for name, each in data.items())
    return Figure("processes", _TITLE, _ABOUT, charts, tables, side_by_side=True)


def _charts(name: str, data: Dataset) -> Iterator[Chart]:
    yield line_chart(data, f"{name}: bandwidth", "bandwidth")
    yield line_chart(data, f"{name}: gain", "gain")


def _rows(row: WidthRow, way: str) -> Iterator[Row]:
    gain = row.gains[f"{way}_gain"]
    processes = next(sides(row.cells["processes"]))[1].mean
    for side, rate in sides(row.cells[f"{way}_bandwidth"]):
        yield {
            **{"processes": processes, "series": side},
            **{"bandwidth": rate.mean, "bandwidth_error": rate.error},
            "gain": gain.pfs if side == "PFS" else gain.bb,
        }
