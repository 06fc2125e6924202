"""A figure of a page: charts, and tables with the same numbers and units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegasus_bb.core.text import readable
from pegasus_bb.core.units import format_number, format_seconds, format_size
from pegasus_bb.report.columns import RATIO, TO_ONE

ROWS = 200  # of a table; --json has all of them
FINE = "fine ratio"  # the unit of a ratio near 1; columns.py has the others
UNKNOWN = "unknown"
Legend = tuple[str, str]  # color, what it stands for
DataRow = Mapping[str, Any]  # key of a column -> a number of the JSON, or a text


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the JSON, and its unit."""

    value: float | None
    unit: str
    doubt: str = ""  # a mark behind it: Pair.doubt


TableCell = Number | str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a dataset; its title is also the title in a tooltip."""

    key: str
    title: str
    unit: str = ""  # empty: text


@dataclass(frozen=True, slots=True)
class FigureTable:
    """A table whose first column names the rows."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    more: int = 0  # rows that only --json has
    note: str = ""  # below it


@dataclass(frozen=True, slots=True)
class Dataset:
    """The rows of a chart and of its table; a chart may use more keys."""

    columns: tuple[Column, ...]
    rows: Sequence[DataRow]

    @property
    def known(self) -> tuple[Column, ...]:
        """The columns in which a row has a value."""
        every = (c for c in self.columns if c.unit)
        empty = [c for c in every if all(row.get(c.key) is None for row in self.rows)]
        return tuple(column for column in self.columns if column not in empty)

    def table(self, caption: str) -> FigureTable:
        """Make a table of the columns that are ``known``."""
        if self.known != self.columns:
            return Dataset(self.known, self.rows).table(caption)
        head = tuple(column.title for column in self.columns)
        rows = tuple(tuple(self._cells(row)) for row in self.rows[:ROWS])
        return FigureTable(caption, head, rows, max(0, len(self.rows) - ROWS))

    def _cells(self, row: DataRow) -> Iterator[TableCell]:
        for column in self.columns:
            value = row.get(column.key)
            yield Number(value, column.unit) if column.unit else str(value)

    def records(self) -> list[dict[str, Any]]:
        """Return the rows for Vega, and beside each number the text of its tooltip."""
        return [{**_printable(row), **self._texts(row)} for row in self.rows]

    def _texts(self, row: DataRow) -> dict[str, str]:
        cells = zip(self.columns, self._cells(row), strict=True)
        return {f"{column.key}_text": _text(cell) for column, cell in cells}


@dataclass(frozen=True, slots=True)
class Chart:
    """A Vega-Lite specification, and what it shows for a reader without pictures."""

    label: str
    spec: Mapping[str, Any]
    title: str = ""  # above the chart


@dataclass(frozen=True, slots=True)
class Figure:
    """Charts and their tables. Without charts, ``about`` says which data the figure
    needs."""

    key: str
    title: str
    about: str
    charts: tuple[Chart, ...] = ()
    tables: tuple[FigureTable, ...] = ()
    side_by_side: bool = False
    legend: tuple[Legend, ...] = ()  # of all its charts; else each has its own


def format_quantity(value: float | None, unit: str) -> str:
    """Return ``value`` with its unit, or ``unknown``; an unmeasured value is never
    zero."""
    if value is None:
        return UNKNOWN
    if unit == "s":
        return format_seconds(value)
    if unit in ("B", "B/s"):
        return format_size(round(value)) + unit.removeprefix("B")
    if unit == RATIO:
        return f"{value:.2f} times"
    if unit == FINE:
        return f"{value:.4f} times"
    if unit == TO_ONE:
        return f"{format_number(round(value, 6))} to 1"  # an error may be of rounding
    noun = unit.removesuffix("es" if unit.endswith("sses") else "s")
    return f"{_count(value)} {noun if value == 1 else unit}".rstrip()


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else format_number(value)


def _text(cell: TableCell) -> str:
    if isinstance(cell, str):
        return readable(cell)
    return f"{format_quantity(cell.value, cell.unit)} {cell.doubt}".rstrip()


def _printable(row: DataRow) -> DataRow:
    return {k: readable(v) if isinstance(v, str) else v for k, v in row.items()}
