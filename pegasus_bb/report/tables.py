"""The tables of a report as text: which there are, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from pegasus_bb.core.text import readable
from pegasus_bb.core.units import format_number, format_size
from pegasus_bb.model.mean_and_error import Pair, Stat
from pegasus_bb.report.columns import (
    CLOCK,
    LAYER_METRICS,
    STAGING,
    WORKFLOW,
    Metric,
    Shown,
)
from pegasus_bb.report.report_document import Comparison, Row

UNKNOWN = "-"
PLAIN = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
MOST = 8  # rows of single jobs, and of files: the JSON has all
_PADDING = (0, 1, 0, 0)
_NAME = 24  # columns that a name may take before it goes on in the next line
_OF_LOGS = ("io_time", "io_rate")  # only there if Darshan logs were read
_LAST = ("io_wait", "user_system")  # behind those of logs
Columns = Sequence[Metric[Any]]


def tables(comparison: Comparison, style: box.Box) -> tuple[Table, ...]:
    """Return what is printed one after the other; the JSON has more columns."""
    found = tuple(_Tables(comparison, style).all())
    if comparison.simulated:
        for table in found:
            table.columns[0].header = f"{table.columns[0].header}\n(simulated)"
    return found


@dataclass(frozen=True, slots=True)
class _Tables:
    comparison: Comparison
    style: box.Box

    def all(self) -> Iterator[Table]:
        found = self.comparison
        yield from self._of_run("workflow, seconds", found.workflow, WORKFLOW)
        yield from self._of_run("by the clock, seconds", found.clock, CLOCK)
        yield from self._of_run("staging", found.staging, STAGING)
        compute = [Row(readable(row.name), row.cells) for row in found.compute]
        whole = [found.all_compute] if len(compute) > 1 else []
        columns = self._columns(Shown.TEXT, found.compute)
        yield self._of_groups("transformation", [*compute, *whole], columns)
        if len(found.jobs) > len(found.compute):
            jobs = [
                Row(_two_lines(row.name, row.job), row.cells)
                for row in _most_different(found.jobs)
            ]
            columns = self._columns(Shown.JOBS, found.compute)
            yield self._of_groups("jobs", jobs, columns)
        if found.auxiliary:
            columns = self._columns(Shown.TEXT, found.auxiliary)
            yield self._of_groups("auxiliary jobs", found.auxiliary, columns)
        columns = [metric for metric in LAYER_METRICS if metric.head]
        layers = [(row.name, row) for row in found.layers]
        files = [(row.file, row) for row in _longest(found.files)]
        for head, named in (("calls", layers), ("files", files)):
            rows = [Row(_two_lines(name, row.layer), row.cells) for name, row in named]
            if rows:
                yield self._of_groups(f"{head},\nper process", rows, columns)

    def _columns(self, where: Shown, rows: Iterable[Row]) -> Columns:
        pairs = [row.cells["io_time"] for row in rows]
        is_logged = any(pair.pfs or pair.bb for pair in pairs)
        found = [
            metric
            for metric in self.comparison.metrics
            if metric.head and where in metric.shown
            if is_logged or metric.key not in _OF_LOGS
        ]
        return sorted(found, key=lambda metric: metric.key in _LAST)

    def _of_run(
        self, head: str, pairs: Mapping[str, Pair], columns: Columns
    ) -> Iterator[Table]:
        """Yield a table with a row for each column of a run, if one has a value."""
        known = [m for m in columns if m.head and pairs[m.key].is_measured]
        if not known:
            return
        sides = self.comparison.sides
        table = Table(box=self.style, padding=_PADDING)
        table.add_column(head, overflow="fold")
        titles = [*map(str.upper, sides), *(["PFS/BB"] if len(sides) > 1 else ())]
        for title in titles:
            table.add_column(title, justify="right", no_wrap=True)
        for metric in known:
            pair = pairs[metric.key]
            cells = [_cell(metric, getattr(pair, side)) for side in sides]
            if len(sides) > 1:
                cells.append(_ratio(pair) if metric.unit == "s" else "")
            table.add_row(metric.head, *cells)
        yield table

    def _of_groups(self, head: str, rows: Iterable[Row], columns: Columns) -> Table:
        """Make a table: in each row both sides and their ratio are below one
        another."""
        table = Table(box=self.style, padding=_PADDING)
        table.add_column(head, overflow="fold", min_width=14, max_width=_NAME)
        table.add_column("", no_wrap=True)
        for metric in columns:
            table.add_column(metric.head, justify="right", no_wrap=True)
        for row in rows:
            lines = list(self._lines(row, columns))
            for line in lines:
                table.add_row(*line, end_section=line is lines[-1])
        return table

    def _lines(self, row: Row, columns: Columns) -> Iterator[Sequence[str]]:
        """Yield lines. The first begins with the name, the second with what else names
        the row."""
        pairs = [(metric, row.cells[metric.key]) for metric in columns]
        sides = self.comparison.sides
        cells = [
            [side.upper(), *(_cell(m, getattr(pair, side)) for m, pair in pairs)]
            for side in sides
        ]
        if len(sides) > 1:
            ratios = (_ratio(pair) if m.has_ratio else "" for m, pair in pairs)
            cells.append(["ratio", *ratios])
        names = [escape(part) for part in row.name.split("\n", 1)]
        for name, line in zip_longest(names, cells):
            yield (name or "", *(line or [""] * (len(columns) + 1)))


def _cell(metric: Metric[Any], value: Stat | None) -> str:
    if value is None:
        return UNKNOWN
    if metric.unit in ("jobs", "inputs"):
        return format_number(value.mean)
    if metric.unit in ("B", "B/s"):
        return format_size(round(value.mean))
    if value.error is None:
        return _digits(value.mean)
    return f"{_digits(value.mean)}\n+-{_digits(value.error, 4)}"


def _digits(value: float, most: int = 5) -> str:
    """Format ``value`` to about three digits, never in powers of ten."""
    if value == 0:
        return "0"
    bounds = (100, 10, 0.1, 0.01, 0.001)
    places = (0, 1, 2, 3, 4, 5)[sum(abs(value) < bound for bound in bounds)]
    return f"{value:.{min(places, most)}f}"


def _ratio(pair: Pair) -> str:
    """Format PFS to BB; mark it if the difference is within the error, or that is
    unknown."""
    if pair.ratio is None:
        return UNKNOWN
    digits = f"{pair.ratio:.4f}" if pair.is_fine else _digits(pair.ratio)
    return digits + pair.doubt


def _most_different(jobs: Iterable[Row]) -> Sequence[Row]:

    def difference(row: Row) -> float:
        found = row.cells["run_time"].difference
        return -1.0 if found is None else abs(found)

    return sorted(jobs, key=difference, reverse=True)[:MOST]


def _longest(files: Iterable[Row]) -> Sequence[Row]:
    return sorted(files, key=lambda row: -row.cells["slowest_time"].larger)[:MOST]


def _two_lines(name: str, more: str) -> str:
    """Put one name on two lines; beside a side each, two names would read as two
    rows."""
    return readable(name) if more == name else f"{readable(name)}\n({readable(more)})"
