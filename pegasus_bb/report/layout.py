"""How the tables of a report are laid out: every digit is there, nothing is cropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from rich import box
from rich.markup import escape
from rich.table import Table

from pegasus_bb.core.units import format_number, format_size
from pegasus_bb.model.stat import Pair, Stat
from pegasus_bb.report.report_document import Row

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
