"""Bandwidth by block size and processes: figures 4 and 5 of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pegasus_bb.page.figure import Cell, Figure, Number, Table, table
from pegasus_bb.page.lines import Line, Point, highest, lines
from pegasus_bb.page.plot import Mark, Panel, Plot, symbol
from pegasus_bb.page.said import said
from pegasus_bb.page.scale import Scale, Tick, from_zero

_TITLE = "Bandwidth by block size and processes"
_LEFT, _TOP, _WIDTH, _HEIGHT, _BETWEEN = 90, 30, 170, 170, 26
_STYLES = ("pfs", "bb", "tier3", "tier4")
_WAYS = ("write", "read")
Cells = Sequence[Mapping[str, Any]]


def benchmark(document: Mapping[str, Any]) -> Figure:
    """A drawing for each mode, layout and direction, with a panel for each block."""
    found = document["bench"]
    tiers = {tier["name"]: tier["cells"] for tier in found["tiers"]} if found else {}
    if not any(tiers.values()):
        return Figure(
            "benchmark",
            _TITLE,
            "Left out: no benchmark was given. `pegasus-bb bench --tier DIR --tier DIR "
            "--json >bench.json` measures one, --bench bench.json shows it here.",
        )
    kinds = dict.fromkeys((c["mode"], c["layout"]) for t in tiers.values() for c in t)
    plots = [_plot(tiers, kind, way) for kind in kinds for way in _WAYS]
    return Figure(
        "benchmark",
        _TITLE,
        "Bytes of all processes per second, measured by `pegasus-bb bench`, not by the "
        "runs above. Lines are the standard error.",
        tuple(plot for plot in plots if plot is not None),
        tuple(_table(name, cells) for name, cells in tiers.items()),
    )


def _plot(tiers: Mapping[str, Cells], kind: tuple[str, str], way: str) -> Plot | None:
    cells = {
        name: [c for c in found if (c["mode"], c["layout"]) == kind and _mean(c, way)]
        for name, found in tiers.items()
    }
    blocks = sorted({cell["block"] for found in cells.values() for cell in found})
    if not blocks:
        return None
    by_block = {block: list(_lines(cells, block, way)) for block in blocks}
    tops = highest(one for found in by_block.values() for one in found)
    up = from_zero(tops, _TOP + _HEIGHT, _TOP, "B/s")
    panels = (
        _panel(number, block, by_block[block], up)
        for number, block in enumerate(blocks)
    )
    what = f"{way}, {kind[0]}, {kind[1]}"
    return Plot(
        max(_LEFT + len(blocks) * (_WIDTH + _BETWEEN) + 20, 420),
        _TOP + _HEIGHT + 44,
        tuple(panels),
        f"Bandwidth, {what}; the tables below have the numbers",
        tuple(_key(tiers, what)),
    )


def _panel(number: int, block: int, found: Sequence[Line], up: Scale) -> Panel:
    """All have the same upward axis: the first one has its numbers."""
    left = _LEFT + number * (_WIDTH + _BETWEEN)
    head = f"block {said(block, 'B')}"
    panel = lines((left, _TOP, _WIDTH, _HEIGHT), found, head, up)
    if number:
        panel = replace(panel, up=tuple(Tick(tick.at, "") for tick in panel.up))
    return panel


def _key(tiers: Mapping[str, Cells], what: str) -> Iterator[tuple[Mark, str]]:
    yield Mark("M0,0", ""), f"{what}:"
    for name, style in zip(tiers, _styles(tiers), strict=True):
        yield Mark(symbol(style, 13, 6.5, 5), style), name


def _styles(tiers: Mapping[str, Cells]) -> list[str]:
    return [_STYLES[number % len(_STYLES)] for number in range(len(tiers))]


def _lines(cells: Mapping[str, Cells], block: int, way: str) -> Iterator[Line]:
    for (name, found), style in zip(cells.items(), _styles(cells), strict=True):
        points = sorted(
            (cell["processes"], cell[way]["mean"], cell[way].get("error"))
            for cell in found
            if cell["block"] == block
        )
        if points:
            yield Line(name, style, tuple(Point(*point) for point in points))


def _mean(cell: Mapping[str, Any], way: str) -> float | None:
    mean: float | None = cell[way].get("mean")
    return mean


def _table(name: str, cells: Cells) -> Table:
    head = ("mode", "layout", "block", "processes", *_HEADS)
    return table(f"Tier {name}", head, [_row(cell) for cell in cells])


_HEADS = ("write", "standard error", "read", "standard error")


def _row(cell: Mapping[str, Any]) -> tuple[Cell, ...]:
    figures = (
        Number(cell[way].get(key), "B/s") for way in _WAYS for key in ("mean", "error")
    )
    return (
        cell["mode"],
        cell["layout"],
        Number(cell["block"], "B"),
        Number(cell["processes"], "processes"),
        *figures,
    )
