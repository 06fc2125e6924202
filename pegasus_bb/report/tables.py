"""The tables of a report, laid out so that every digit is there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from pegasus_bb.model.stat import Stat
from pegasus_bb.report.compare import Comparison, Row
from pegasus_bb.report.metrics import IOWait
from pegasus_bb.report.stats import Pair
from pegasus_bb.units import format_size

UNKNOWN = "-"
PLAIN = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
_PADDING = (0, 1, 0, 0)
_ENDLESS = 10_000  # columns: what a table is measured on
_WORKFLOW = {
    "makespan": "makespan",
    "span": "first task's start to last's end",
    "compute": "compute jobs, added up",
    "stage_in": "staging in, added up",
    "stage_out": "staging out, added up",
    "reserve": "reserving (bb_setup)",
    "gate_wait": "waiting for the reservation (gate)",
    "release": "giving back (bb_delete)",
}
_WAIT = {IOWait.MEASURED: "I/O wait\ns", IOWait.OFF_CPU: "off CPU\ns"}


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table may be made narrower."""

    mean: bool  # whether it has a column for what run time / jobs says as well
    before_error: str  # between a number and its error
    name: int  # columns that a name may take before it goes on in the next line


# The first that fits; where none does, the last, as wide as it is.
_LAYOUTS = (
    Layout(mean=True, before_error=" ", name=24),
    Layout(mean=True, before_error="\n", name=24),
    Layout(mean=False, before_error="\n", name=24),
    Layout(mean=False, before_error="\n", name=14),
)


@dataclass(frozen=True, slots=True)
class Tables:
    """What is printed one after the other."""

    tables: tuple[Table, ...]
    width: int  # columns that the widest needs
    without_mean: bool


def fitting(comparison: Comparison, style: box.Box, console: Console) -> Tables:
    """The tables of ``comparison`` in the fullest layout that ``console`` has room for.

    Where it has none for any, they are wider than it: nothing is cropped.
    """
    for layout in _LAYOUTS:
        tables = _tables(comparison, style, layout)
        width = max(_width(table, console) for table in tables)
        if width <= console.width:
            break
    return Tables(tables, width, not layout.mean)


def _width(table: Table, console: Console) -> int:
    options = console.options.update(width=_ENDLESS)
    return Measurement.get(console, options, table).maximum


def _tables(
    comparison: Comparison, style: box.Box, layout: Layout
) -> tuple[Table, ...]:
    rows = _compute(comparison)
    shown = _shown(comparison.io_wait, layout, _logged(rows))
    tables = [
        _workflow_table(comparison, style, layout),
        _jobs_table("transformation", rows, shown, style, layout),
    ]
    if comparison.auxiliary:
        head = "auxiliary jobs"
        shown = _shown(comparison.io_wait, layout, _logged(comparison.auxiliary))
        tables.append(_jobs_table(head, comparison.auxiliary, shown, style, layout))
    return tuple(tables)


def _logged(rows: Iterable[Row]) -> bool:
    """Whether there is a Darshan log of any."""
    pairs = [row.cells["io_time"] for row in rows]
    return any(pair.pfs is not None or pair.bb is not None for pair in pairs)


def _shown(io_wait: IOWait, layout: Layout, logged: bool) -> dict[str, str]:
    """Metric.key -> the head of its column."""
    mean = {"mean_time": "mean\ns"} if layout.mean else {}
    calls = {"io_time": "in calls\ns", "io_rate": "in calls\nper s"} if logged else {}
    return {
        "jobs": "jobs",
        "run_time": "run time\ns",
        **mean,
        "bytes_read": "read",
        "bytes_written": "written",
        **calls,
        "io_wait": _WAIT[io_wait],
        "user_system": "user/\nsystem",
    }


def _compute(comparison: Comparison) -> tuple[Row, ...]:
    several = len(comparison.compute) > 1
    return comparison.compute + ((comparison.all_compute,) if several else ())


def _workflow_table(comparison: Comparison, style: box.Box, layout: Layout) -> Table:
    table = Table(box=style, padding=_PADDING)
    table.add_column("workflow, seconds", overflow="fold")
    for head in ("PFS", "BB", "PFS/BB"):
        table.add_column(head, justify="right", no_wrap=True)
    for key, pair in comparison.workflow.items():
        if pair.pfs is not None or pair.bb is not None:
            sides = (_number(side, layout) for side in (pair.pfs, pair.bb))
            table.add_row(_WORKFLOW[key], *sides, _ratio(pair))
    return table


def _jobs_table(
    head: str,
    rows: Iterable[Row],
    shown: dict[str, str],
    style: box.Box,
    layout: Layout,
) -> Table:
    """Per row PFS, BB and their ratio below one another, metric under metric."""
    table = Table(box=style, padding=_PADDING)
    table.add_column(head, overflow="fold", min_width=14, max_width=layout.name)
    table.add_column("", no_wrap=True)
    for title in shown.values():
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        pairs = {key: row.cells[key] for key in shown}
        table.add_row(escape(row.name), "PFS", *_cells(pairs, "pfs", layout))
        table.add_row("", "BB", *_cells(pairs, "bb", layout))
        # Of a rate more is better: its ratio would read the other way round.
        without = ("jobs", "io_rate")
        ratios = ["" if key in without else _ratio(pair) for key, pair in pairs.items()]
        table.add_row("", "ratio", *ratios, end_section=True)
    return table


def _cells(pairs: dict[str, Pair], side: str, layout: Layout) -> Sequence[str]:
    return [_cell(key, getattr(pair, side), layout) for key, pair in pairs.items()]


def _cell(key: str, value: Stat | None, layout: Layout) -> str:
    if value is None:
        return UNKNOWN
    if key == "jobs":
        return f"{value.mean:g}"
    if key in ("bytes_read", "bytes_written", "io_rate"):
        return format_size(round(value.mean))
    return _number(value, layout)


def _number(value: Stat | None, layout: Layout) -> str:
    if value is None:
        return UNKNOWN
    if value.error is None:
        return _digits(value.mean)
    return f"{_digits(value.mean)}{layout.before_error}+-{_digits(value.error)}"


def _digits(value: float) -> str:
    """``value`` to about three digits, never in powers of ten."""
    if value == 0:
        return "0"
    places = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:.{places}f}"


def _ratio(pair: Pair) -> str:
    """PFS to BB; a star where the difference is within the error."""
    if pair.ratio is None:
        return UNKNOWN
    doubtful = pair.beyond_error is False and pair.ratio != 1
    return _digits(pair.ratio) + ("*" if doubtful else "")
