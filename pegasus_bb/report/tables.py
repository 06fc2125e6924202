"""The tables of a report as text: which there are, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from rich import box
from rich.markup import escape
from rich.table import Table

from pegasus_bb.core.units import format_number, format_size
from pegasus_bb.model.run import PARTS
from pegasus_bb.model.stat import Pair, Stat
from pegasus_bb.model.text import readable
from pegasus_bb.report.metrics import IOWait
from pegasus_bb.report.report_document import Comparison, Row
from pegasus_bb.report.rows import JOB_COLUMNS

UNKNOWN = "-"
_PADDING = (0, 1, 0, 0)
_NAME = 24  # columns that a name may take before it goes on in the next line
RATES = (
    "io_rate",
    "bandwidth",
    "read_bandwidth",
    "write_bandwidth",
    "in_rate",
    "out_rate",
)
SIZES = (*RATES, "bytes_read", "bytes_written", "in_bytes", "out_bytes", "footprint")


def pairs_table(
    head: str,
    pairs: Mapping[str, Pair],
    names: Mapping[str, str],
    sides: Sequence[str],
    style: box.Box,
) -> Table:
    compared = len(sides) > 1
    table = Table(box=style, padding=_PADDING)
    table.add_column(head, overflow="fold")
    for title in (*map(str.upper, sides), *(["PFS/BB"] if compared else ())):
        table.add_column(title, justify="right", no_wrap=True)
    for key, pair in pairs.items():
        cells = (_cell(key, getattr(pair, side)) for side in sides)
        ratio = "" if key in SIZES else _ratio(pair)
        table.add_row(names[key], *cells, *([ratio] if compared else ()))
    return table


def jobs_table(
    head: str,
    rows: Iterable[Row],
    shown: Mapping[str, str],
    sides: Sequence[str],
    style: box.Box,
) -> Table:
    """Per row each side, and their ratio, below one another, metric under metric."""
    table = Table(box=style, padding=_PADDING)
    table.add_column(head, overflow="fold", min_width=14, max_width=_NAME)
    table.add_column("", no_wrap=True)
    for title in shown.values():
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        lines = list(_lines(row, shown, sides))
        for line in lines:
            table.add_row(*line, end_section=line is lines[-1])
    return table


def _lines(
    row: Row, shown: Mapping[str, str], sides: Sequence[str]
) -> Iterator[Sequence[str]]:
    """The first begins with the name, the second with what else names the row."""
    pairs = {key: row.cells[key] for key in shown}
    cells = [(side.upper(), *_cells(pairs, side)) for side in sides]
    if len(sides) > 1:
        cells.append(("ratio", *_ratios(pairs)))
    names = [escape(part) for part in row.name.split("\n", 1)]
    for name, line in zip_longest(names, cells):
        yield (name or "", *(line or [""] * (len(shown) + 1)))


def _ratios(pairs: Mapping[str, Pair]) -> Sequence[str]:
    """Of a rate more is better: its ratio would read the other way round."""
    without = ("jobs", *RATES)
    return ["" if key in without else _ratio(pair) for key, pair in pairs.items()]


def _cells(pairs: dict[str, Pair], side: str) -> Sequence[str]:
    return [_cell(key, getattr(pair, side)) for key, pair in pairs.items()]


def _cell(key: str, value: Stat | None) -> str:
    if value is None:
        return UNKNOWN
    if key == "jobs":
        return format_number(value.mean)
    if key in SIZES:
        return format_size(round(value.mean))
    if value.error is None:
        return _digits(value.mean)
    return f"{_digits(value.mean)}\n+-{_digits(value.error, 4)}"


def _digits(value: float, most: int = 5) -> str:
    """``value`` to about three digits, never in powers of ten."""
    if value == 0:
        return "0"
    bounds = (100, 10, 0.1, 0.01, 0.001)
    places = (0, 1, 2, 3, 4, 5)[sum(abs(value) < bound for bound in bounds)]
    return f"{value:.{min(places, most)}f}"


def _ratio(pair: Pair) -> str:
    """PFS to BB; marked where the difference is within the error, or that unknown."""
    if pair.ratio is None:
        return UNKNOWN
    digits = f"{pair.ratio:.4f}" if pair.is_fine else _digits(pair.ratio)
    return digits + pair.doubt


PLAIN = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
MOST = 8  # rows of single jobs, and of files: the JSON has all

CLOCK = {
    "compute": "jobs of the workflow",
    "stage_in": "else staging in",
    "stage_out": "else staging out",
    "auxiliary": "else other jobs of Pegasus",
    "reserve": "else reserving",
    "release": "else giving back",
    "gate_wait": "else waiting at the gate",
    "queue": "else queueing",
    "ready_wait": "else waiting for a slot",
    "other": "else engine",
}
STAGING = {
    "in_bytes": "staged in",
    "in_rate": "staged in, per s",
    "out_bytes": "staged out",
    "out_rate": "staged out, per s",
    "results_safe": "until the last result is safe, s",
    "footprint": "all files",
}
LAYER = {
    "read_bandwidth": "read\nper s",
    "write_bandwidth": "written\nper s",
    "read_time": "reading\ns",
    "write_time": "writing\ns",
    "meta_time": "meta\ns",
    "slowest_to_average": "slowest\n/mean",
}
WAIT = {IOWait.MEASURED: "I/O wait\ns", IOWait.OFF_CPU: "off CPU\ns"}


def tables(comparison: Comparison, style: box.Box) -> tuple[Table, ...]:
    """What is printed one after the other; the JSON has more columns."""
    rows = _compute(comparison)
    shown = _shown(comparison.io_wait, rows)
    found = [
        *_workflow_tables(comparison, style),
        jobs_table("transformation", rows, shown, comparison.sides, style),
    ]
    if len(comparison.jobs) > len(comparison.compute):
        few = [
            Row(_two_lines(row.name, row.job), row.cells)
            for row in _most_different(comparison.jobs)
        ]
        own = {key: head for key, head in shown.items() if key in JOB_COLUMNS}
        columns = {"run_time": own.pop("run_time"), "queue": "queue\ns", **own}
        found.append(jobs_table("jobs", few, columns, comparison.sides, style))
    if comparison.auxiliary:
        shown = _shown(comparison.io_wait, comparison.auxiliary)
        found.append(
            jobs_table(
                "auxiliary jobs", comparison.auxiliary, shown, comparison.sides, style
            )
        )
    found.extend(_layer_tables(comparison, style))
    if comparison.simulated:
        for table in found:
            table.columns[0].header = f"{table.columns[0].header}\n(simulated)"
    return tuple(found)


def _layer_tables(comparison: Comparison, style: box.Box) -> Iterator[Table]:
    calls = [
        Row(_two_lines(row.name, row.layer), row.cells) for row in comparison.layers
    ]
    files = [
        Row(_two_lines(row.file, row.layer), row.cells)
        for row in _longest(comparison.files)
    ]
    if calls:
        yield jobs_table("calls,\nper process", calls, LAYER, comparison.sides, style)
    if files:
        yield jobs_table("files,\nper process", files, LAYER, comparison.sides, style)


def _most_different(jobs: Iterable[Row]) -> Sequence[Row]:

    def difference(row: Row) -> float:
        pair = row.cells["run_time"]
        return abs(pair.pfs.mean - pair.bb.mean) if pair.pfs and pair.bb else -1.0

    return sorted(jobs, key=difference, reverse=True)[:MOST]


def _longest(files: Iterable[Row]) -> Sequence[Row]:

    def seconds(row: Row) -> float:
        pair = row.cells["slowest_time"]
        return max(side.mean for side in (pair.pfs, pair.bb) if side is not None)

    return sorted(files, key=seconds, reverse=True)[:MOST]


def _two_lines(name: str, more: str) -> str:
    """One name over two lines; beside a side each, they would read as two."""
    return readable(name) if more == name else f"{readable(name)}\n({readable(more)})"


def _logged(rows: Iterable[Row]) -> bool:
    pairs = [row.cells["io_time"] for row in rows]
    return any(pair.pfs is not None or pair.bb is not None for pair in pairs)


def _shown(io_wait: IOWait, rows: Iterable[Row]) -> dict[str, str]:
    calls = {"io_time": "in calls\ns", "io_rate": "in calls\nper s"}
    return {
        "jobs": "jobs",
        "run_time": "run time\ns",
        "bytes_read": "read",
        "bytes_written": "written",
        **(calls if _logged(rows) else {}),
        "io_wait": WAIT[io_wait],
        "user_system": "user/\nsystem",
    }


def _compute(comparison: Comparison) -> tuple[Row, ...]:
    named = tuple(Row(readable(row.name), row.cells) for row in comparison.compute)
    return named + ((comparison.all_compute,) if len(named) > 1 else ())


def _workflow_tables(comparison: Comparison, style: box.Box) -> Iterator[Table]:
    for head, pairs, names in (
        ("workflow, seconds", comparison.workflow, PARTS),
        ("by the clock, seconds", comparison.clock, CLOCK),
        ("staging", comparison.staging, STAGING),
    ):
        known = {key: pairs[key] for key in names if _has_any(pairs[key])}
        if known:
            yield pairs_table(head, known, names, comparison.sides, style)


def _has_any(pair: Pair) -> bool:
    return any(side and side.mean for side in (pair.pfs, pair.bb))
