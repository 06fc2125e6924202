"""Bandwidth and what more processes gain: figures 10 and 11 of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pegasus_bb.page.figure import Cell, Figure, Number, Table, table
from pegasus_bb.page.lines import Line, Point, highest, lines
from pegasus_bb.page.plot import SIDES, Panel, Plot, key_of_sides
from pegasus_bb.page.said import RATIO
from pegasus_bb.page.scale import from_zero

_TITLE = "Bandwidth and gain by processes"
_LEFT, _TOP, _WIDTH, _HEIGHT, _BETWEEN = 90, 30, 400, 200, 110
_WAYS = ("write", "read")
Rows = Sequence[Mapping[str, Any]]


def by_processes(document: Mapping[str, Any]) -> Figure:
    """For each transformation, layer and direction: bandwidth, and gain beside it."""
    rows = document["darshan"]["widths"]
    kinds = dict.fromkeys((row["name"], row["layer"]) for row in rows)
    plots = [_plot(_of(rows, kind), kind, way) for kind in kinds for way in _WAYS]
    found = tuple(plot for plot in plots if plot is not None)
    if not found:
        return Figure(
            "processes",
            _TITLE,
            "Left out: no transformation ran with several numbers of processes. Runs "
            "of each number with Darshan logs, each given as --pfs or --bb, tell it.",
        )
    return Figure(
        "processes",
        _TITLE,
        "By what the slowest process took. The gain is to the fewest processes of the "
        "same side.",
        found,
        tuple(_table(_of(rows, kind), kind) for kind in kinds),
    )


def _of(rows: Rows, kind: tuple[str, str]) -> Rows:
    return [row for row in rows if (row["name"], row["layer"]) == kind]


def _plot(rows: Rows, kind: tuple[str, str], way: str) -> Plot | None:
    rates = list(_lines(rows, f"{way}_bandwidth"))
    gains = list(_lines(rows, f"{way}_gain"))
    if not rates:
        return None
    what = f"{kind[0]}, {kind[1]}, {way}"
    panels = (
        _panel(rates, f"{what}: bandwidth", "B/s", 0),
        _panel(gains, f"{what}: gain", RATIO, 1),
    )
    width = _LEFT + 2 * _WIDTH + _BETWEEN + 40
    label = f"Bandwidth and gain by processes, {what}; the table below has the numbers"
    return Plot(width, _TOP + _HEIGHT + 44, panels, label, key_of_sides())


def _panel(found: Sequence[Line], head: str, unit: str, number: int) -> Panel:
    up = from_zero(highest(found), _TOP + _HEIGHT, _TOP, unit)
    left = _LEFT + number * (_WIDTH + _BETWEEN)
    return lines((left, _TOP, _WIDTH, _HEIGHT), found, head, up)


def _lines(rows: Rows, key: str) -> Iterator[Line]:
    for side, words in SIDES.items():
        known = [(_processes(row), row[key][side]) for row in rows if row[key][side]]
        points = tuple(Point(n, *_value(found)) for n, found in known)
        if points:
            yield Line(words, side, points)


def _value(found: Mapping[str, Any] | float) -> tuple[float, float | None]:
    """Of a gain there is no error."""
    if isinstance(found, Mapping):
        return found["mean"], found["error"]
    return found, None


def _processes(row: Mapping[str, Any]) -> int:
    stat = row["processes"]["pfs"] or row["processes"]["bb"]
    return int(stat["mean"])


def _table(rows: Rows, kind: tuple[str, str]) -> Table:
    words = [f"{way} {what}" for way in _WAYS for what in ("bandwidth", "gain")]
    head = ("processes", *(f"{w}, {side}" for w in words for side in ("PFS", "BB")))
    return table(", ".join(kind), head, [_row(row) for row in rows])


def _row(row: Mapping[str, Any]) -> tuple[Cell, ...]:
    cells: list[Cell] = [Number(_processes(row), "processes")]
    for way in _WAYS:
        rates = row[f"{way}_bandwidth"]
        cells += (Number((rates[s] or {}).get("mean"), "B/s") for s in SIDES)
        cells += (Number(row[f"{way}_gain"][s], RATIO) for s in SIDES)
    return tuple(cells)
