"""A figure of a page: charts, and tables with the same numbers."""

from __future__ import annotations

from dataclasses import dataclass

from pegasus_bb.page.charts import Chart
from pegasus_bb.page.dataset import Column, Dataset, Row

ROWS = 200  # of a table; all of them are in --json


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the JSON, and its unit."""

    value: float | None
    unit: str


Cell = Number | str


@dataclass(frozen=True, slots=True)
class Table:
    """The first column names the rows."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: int = 0  # rows that only --json has


@dataclass(frozen=True, slots=True)
class Figure:
    """Without charts, ``about`` says which data the figure needs."""

    key: str
    title: str
    about: str
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    side_by_side: bool = False


def table(caption: str, data: Dataset) -> Table:
    """The first rows of ``data``, as many as a person reads."""
    head = tuple(column.title for column in data.shown)
    rows = tuple(_cells(row, data.shown) for row in data.rows[:ROWS])
    return Table(caption, head, rows, max(0, len(data.rows) - ROWS))


def _cells(row: Row, columns: tuple[Column, ...]) -> tuple[Cell, ...]:
    return tuple(
        Number(row.get(column.key), column.unit) if column.unit else row[column.key]
        for column in columns
    )
