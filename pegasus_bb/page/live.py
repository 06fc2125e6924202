"""Live bytes on the tier over the time of a run, against the reserved capacity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import altair as alt

from pegasus_bb.page.charts import ALERT, Chart, chart, draw
from pegasus_bb.page.dataset import Column, Dataset
from pegasus_bb.page.figure import Figure, Table, table
from pegasus_bb.page.quantity import format_quantity
from pegasus_bb.report.document import Comparison, ReportedRun

_TITLE = "Live bytes on the tier"
_MISSING = (
    "Left out: no record of what was on the tier. A submit directory of any mode but "
    "off has one, in its job lists and its bb folder."
)
_ABOUT = (
    "At most {most}. A file counts from the start of the job that brings or writes it "
    "to the end of the one that removes it, or of the reservation."
)
Steps = Sequence[tuple[float, float]]


class _Part(NamedTuple):
    """What was on one kind of reservations, and how the page words it."""

    where: str
    bytes: str  # head of the column
    reserved_words: str
    capacity: int | None
    unknown: int
    steps: Steps  # seconds since the run began -> bytes
    reserved: Steps

    @property
    def most(self) -> float:
        return max(size for _, size in self.steps)


_WORDS = (
    ("on the reservation of all jobs", "bytes on the reservation", "reserved"),
    (
        "on reservations of single jobs, added up",
        "bytes on all of them",
        "reserved, added up",
    ),
)


def live(found: Comparison) -> Figure:
    """The first run on the burst buffer that has a record of its tier."""
    for run in found.bb:
        parts = list(_parts(run))
        if parts:
            return _figure(run, parts)
    return Figure("live", _TITLE, _MISSING)


def _figure(run: ReportedRun, parts: Sequence[_Part]) -> Figure:
    ends = [run.time.at(task.start) + task.duration for task in run.run.tasks]
    steps = (step for part in parts for step in (*part.steps, *part.reserved))
    end = max([*ends, *(at for at, _ in steps)])
    return Figure(
        "live",
        _TITLE,
        _about(parts),
        tuple(_chart(part, end) for part in parts),
        tuple(each for part in parts for each in _tables(part)),
    )


def _parts(run: ReportedRun) -> Iterator[_Part]:
    both = (run.run.live, run.run.live_rooms)
    for words, found in zip(_WORDS, both, strict=True):
        if found and found.steps:
            steps, reserved = (
                [(run.time.at(at), size) for at, size in each]
                for each in (found.steps, found.reserved)
            )
            yield _Part(*words, found.capacity, found.unknown, steps, reserved)


def _about(parts: Sequence[_Part]) -> str:
    most = " and ".join(f"{format_quantity(p.most, 'B')} {p.where}" for p in parts)
    unknown = " and ".join(
        f"{format_quantity(part.unknown, 'files')} {part.where}"
        for part in parts
        if part.unknown
    )
    left_out = f" Not in it, of unknown size or writer: {unknown}." if unknown else ""
    return _ABOUT.format(most=most) + left_out


def _chart(part: _Part, end: float) -> Chart:
    capacity = part.capacity
    reserved = part.reserved or ([(0.0, capacity)] if capacity else [])
    rows = [*_drawn("bytes", part.steps, end), *_drawn("reserved", reserved, end)]
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
    title = part.where
    if capacity:
        title += f", {part.reserved_words}: {format_quantity(capacity, 'B')}"
    label = f"Live bytes over time {part.where}; the table has the numbers"
    return chart(layers, label, 220, title, steps=data)


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


def _tables(part: _Part) -> Iterator[Table]:
    yield table(f"Live bytes {part.where}", _dataset(part.bytes, part.steps))
    if part.reserved:
        reserved = _dataset("bytes reserved", part.reserved)
        yield table(f"Reserved {part.where}", reserved)


def _dataset(title: str, steps: Steps) -> Dataset:
    columns = (
        Column("at", "seconds since the run began", "s"),
        Column("bytes", title, "B"),
    )
    return Dataset(columns, [{"at": at, "bytes": size} for at, size in steps])
