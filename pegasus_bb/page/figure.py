"""One figure of a page: drawn, and as a table that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pegasus_bb.page.plot import Plot

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
    more: int = 0  # rows that are in --json alone


@dataclass(frozen=True, slots=True)
class Figure:
    """Where there is nothing to draw, ``about`` says what would bring it."""

    key: str
    title: str
    about: str
    plots: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()


def table(caption: str, head: Sequence[str], rows: Sequence[tuple[Cell, ...]]) -> Table:
    """With as many rows as a person reads."""
    return Table(caption, tuple(head), tuple(rows[:ROWS]), max(0, len(rows) - ROWS))
