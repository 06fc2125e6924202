"""Live bytes on the tier over the time of a run, against the reserved capacity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from pegasus_bb.page.charts import ALERT, Chart, chart, draw
from pegasus_bb.page.dataset import Column, Dataset
from pegasus_bb.page.figure import Figure, Table, table
from pegasus_bb.page.quantity import format_quantity

_TITLE = "Live bytes on the tier"
_MISSING = (
    "Left out: no record of what was on the tier. A submit directory of any mode but "
    "off has one, in its job lists and its bb folder."
)
_ABOUT = (
    "At most {most}. A file counts from the start of the job that brings or writes it "
    "to the end of the one that removes it, or of the reservation."
)
Steps = Sequence[Sequence[float]]


class _Part(NamedTuple):
    """How the page words a key of the run."""

    where: str
    bytes: str  # head of the column
    reserved: str


_PARTS = {
    "live": _Part(
        "on the reservation of all jobs", "bytes on the reservation", "reserved"
    ),
    "live_rooms": _Part(
        "on reservations of single jobs, added up",
        "bytes on all of them",
        "reserved, added up",
    ),
}


def live(document: Mapping[str, Any]) -> Figure:
    """The first run on the burst buffer that has a record of its tier."""
    runs = [run for run in document["runs"]["bb"] if any(_parts(run))]
    if not runs:
        return Figure("live", _TITLE, _MISSING)
    run = runs[0]
    parts = {part: run[key] for key, part in _parts(run)}
    end = max(_times(run, parts.values()))
    return Figure(
        "live",
        _TITLE,
        _about(parts),
        tuple(_chart(part, found, end) for part, found in parts.items()),
        tuple(t for part, found in parts.items() for t in _tables(part, found)),
    )


def _parts(run: Mapping[str, Any]) -> Iterator[tuple[str, _Part]]:
    return (each for each in _PARTS.items() if run[each[0]] and run[each[0]]["steps"])


def _times(run: Mapping[str, Any], parts: Any) -> Iterator[float]:
    """Every time that the axis has to show."""
    yield from (task["offset"] + task["duration"] for task in run["tasks"])
    for found in parts:
        yield from (at for at, _ in (*found["steps"], *found["reserved"]))


def _about(parts: Mapping[_Part, Mapping[str, Any]]) -> str:
    most, unknown = (
        " and ".join(
            f"{format_quantity(found[key], unit)} {part.where}"
            for part, found in parts.items()
            if found[key]
        )
        for key, unit in (("most", "B"), ("unknown", "files"))
    )
    left_out = f" Not in it, of unknown size or writer: {unknown}." if unknown else ""
    return _ABOUT.format(most=most) + left_out


def _chart(part: _Part, found: Mapping[str, Any], end: float) -> Chart:
    capacity = found["capacity"]
    reserved = found["reserved"] or ([(0.0, capacity)] if capacity else [])
    rows = [*_drawn("bytes", found["steps"], end), *_drawn("reserved", reserved, end)]
    data = Dataset(_DRAWN, rows)
    seconds, size = data.unit("at"), data.unit("bytes")
    across = alt.Scale(domain=[0, end / seconds.size])
    base = draw("steps", data).encode(
        x=alt.X("at:Q", title=seconds.name, scale=across), tooltip=alt.value(None)
    )
    live, line = (
        base.transform_filter(f"isValid(datum.{key})").encode(
            y=alt.Y(f"{key}:Q", title=size.name)
        )
        for key in ("bytes", "reserved")
    )
    layers = alt.layer(
        live.mark_area(), line.mark_line(interpolate="step-after", stroke=ALERT)
    )
    words = f", {part.reserved}: {format_quantity(capacity, 'B')}" if capacity else ""
    label = f"Live bytes over time {part.where}; the table has the numbers"
    return chart(layers, label, 220, part.where + words, steps=data)


_DRAWN = (
    Column("at", "", "s"),
    Column("bytes", "", "B"),
    Column("reserved", "", "B", axis="bytes"),
)


def _drawn(key: str, steps: Steps, end: float) -> Iterator[Mapping[str, float]]:
    """``steps`` from the ground up, between the run's beginning and ``end``."""
    if steps:
        yield {"at": max(0.0, steps[0][0]), key: 0.0}
        yield from ({"at": max(0.0, at), key: size} for at, size in steps)
        yield {"at": end, key: steps[-1][1]}


def _steps(title: str, steps: Steps) -> Dataset:
    columns = (
        Column("at", "seconds since the run began", "s"),
        Column("bytes", title, "B"),
    )
    return Dataset(columns, [{"at": at, "bytes": size} for at, size in steps])


def _tables(part: _Part, found: Mapping[str, Any]) -> Iterator[Table]:
    yield table(f"Live bytes {part.where}", _steps(part.bytes, found["steps"]))
    if found["reserved"]:
        reserved = _steps("bytes reserved", found["reserved"])
        yield table(f"Reserved {part.where}", reserved)
