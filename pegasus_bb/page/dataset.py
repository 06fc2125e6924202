"""The rows of a figure, from which both its chart and its table are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegasus_bb.model.readable import readable
from pegasus_bb.page.quantity import format_quantity

Row = Mapping[str, Any]  # key of a column -> a number of the JSON, or a text


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, or without a title one that only the chart uses.

    Columns with the same ``axis`` have one unit in the chart.
    """

    key: str
    title: str
    unit: str = ""  # empty: text
    axis: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of an axis: values are divided by ``size``."""

    name: str
    size: float


_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_UNITS = {
    "s": (
        *(Unit("\u00b5s", 1e-6), Unit("ms", 1e-3), Unit("s", 1.0)),
        *(Unit("min", 60.0), Unit("h", 3600.0)),
    ),
    "B": tuple(Unit(name, 1024.0**power) for power, name in enumerate(_SIZES)),
    "B/s": tuple(Unit(f"{n}/s", 1024.0**power) for power, n in enumerate(_SIZES)),
}
_ENOUGH = 3.0  # an axis up to 2 min is in seconds, one up to 4 min in minutes


@dataclass(frozen=True, slots=True)
class Dataset:
    """Rows with their columns. A row may have more keys, which only the chart uses."""

    columns: tuple[Column, ...]
    rows: Sequence[Row]

    @property
    def shown(self) -> tuple[Column, ...]:
        """The columns of the table, and of tooltips."""
        return tuple(column for column in self.columns if column.title)

    def unit(self, axis: str) -> Unit:
        """The unit of the columns that share ``axis``."""
        columns = [each for each in self.columns if axis in (each.axis, each.key)]
        values = (row.get(each.key) or 0.0 for row in self.rows for each in columns)
        return _largest(values, columns[0].unit)

    def records(self) -> list[dict[str, Any]]:
        """The rows for a chart: ``key`` in the axis's unit, ``key_text`` for people."""
        units = {c.key: self.unit(c.axis or c.key) for c in self.columns if c.unit}
        rows = ({key: _printable(row[key]) for key in row} for row in self.rows)
        return [{**row, **dict(self._cells(row, units))} for row in rows]

    def _cells(
        self, row: Row, units: Mapping[str, Unit]
    ) -> Iterable[tuple[str, float | str | None]]:
        for column in self.columns:
            value = row.get(column.key)
            if column.title:
                unit = column.unit
                text = format_quantity(value, unit) if unit else str(value)
                yield f"{column.key}_text", text
            if column.unit and value is not None:
                yield column.key, value / units[column.key].size


def _printable(value: Any) -> Any:
    return readable(value) if isinstance(value, str) else value


def _largest(values: Iterable[float], unit: str) -> Unit:
    """The largest unit in which the largest value has a few steps."""
    highest = max(values, default=0.0) or _ENOUGH
    known = _UNITS.get(unit, (Unit(unit, 1.0),))
    fitting = [each for each in known if highest >= _ENOUGH * each.size]
    return fitting[-1] if fitting else known[0]
