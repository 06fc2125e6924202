"""Boxes in columns, a column for each level, and bands between them: where they stand.

Units are those of an SVG picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pegasus_bb.model.placement import PFS
from pegasus_bb.page.groups import Flow, Group, Stream
from pegasus_bb.units import format_size

_WIDTH, _HEIGHT = 150, 30
_COLUMN, _ROW = 230, 46
_MARGIN = 20
_THIN, _THICK = 1.5, 16.0
_LETTERS = 21  # that fit into a box


@dataclass(frozen=True, slots=True)
class Box:
    """One group."""

    x: float
    y: float
    text: str
    title: str  # all of it, for who points there

    width = _WIDTH
    height = _HEIGHT


@dataclass(frozen=True, slots=True)
class Band:
    """One stream, as wide as its bytes are many."""

    path: str
    width: float
    place: str  # tier | pfs
    is_link: bool
    title: str


@dataclass(frozen=True)
class Picture:
    """All of it, with its size."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    bands: tuple[Band, ...]


def draw(flow: Flow) -> Picture:
    """Place all boxes and bands of ``flow``."""
    places = dict(_places(flow))
    most = max((stream.size for stream in flow.streams), default=0)
    boxes = tuple(_box(flow.groups[key], *places[key]) for key in flow.groups)
    bands = tuple(_band(stream, places, most) for stream in flow.streams)
    width = max((box.x for box in boxes), default=0) + _WIDTH + _MARGIN
    height = max((box.y for box in boxes), default=0) + _HEIGHT + _MARGIN
    return Picture(width, height, boxes, bands)


def _places(flow: Flow) -> Iterator[tuple[str, tuple[float, float]]]:
    """Columns are centred: long and short ones face each other."""
    columns: dict[int, list[str]] = {}
    for key, group in flow.groups.items():
        columns.setdefault(group.level, []).append(key)
    tallest = max(map(len, columns.values()), default=0)
    for column, level in enumerate(sorted(columns)):
        keys = columns[level]
        above = (tallest - len(keys)) * _ROW / 2
        for row, key in enumerate(keys):
            yield key, (_MARGIN + column * _COLUMN, _MARGIN + above + row * _ROW)


def _box(group: Group, x: float, y: float) -> Box:
    text = group.label
    if len(text) > _LETTERS:
        text = text[: _LETTERS - 1] + "\u2026"
    more = ", ..." if group.jobs > len(group.some) else ""
    jobs = f": {', '.join(group.some)}{more}" if group.jobs else ""
    return Box(x, y, text, group.label + jobs)


def _band(stream: Stream, places: Mapping[str, tuple[float, float]], most: int) -> Band:
    x, y = places[stream.source]
    to_x, to_y = places[stream.dest]
    x, y, to_y = x + _WIDTH, y + _HEIGHT / 2, to_y + _HEIGHT / 2
    bend = max(40.0, (to_x - x) / 2)
    curve = f"{x + bend:g},{y:g} {to_x - bend:g},{to_y:g} {to_x:g},{to_y:g}"
    share = (stream.size / most) ** 0.5 if most else 0.0
    is_link = stream.how == "link"
    return Band(
        path=f"M{x:g},{y:g} C{curve}",
        width=round(_THIN + (_THICK - _THIN) * share, 1),
        place=PFS if stream.tier == PFS else "tier",
        is_link=is_link,
        title=_title(stream),
    )


def _title(stream: Stream) -> str:
    where = f"on the PFS ({stream.how})" if stream.tier == PFS else f"on {stream.tier}"
    more = ", ..." if stream.files > len(stream.some) else ""
    files = "1 file" if stream.files == 1 else f"{stream.files} files"
    return (
        f"{files}, {format_size(stream.size)}, {where}: {', '.join(stream.some)}{more}"
    )
