"""The workflow, drawn: boxes in columns by level, and the files between them.

Few jobs have a box each; of many, those of one transformation and level share one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import altair as alt

from pegasus_bb.core.units import format_files, format_size
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import PFS as PFS_TIER
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.report.page.charts import BUFFER, LINE, PFS, SOFT, Channel, chart, draw
from pegasus_bb.report.page.figure import Chart, Column, DataRow, Dataset

EACH = 40  # jobs; more share boxes
INPUTS = "inputs"
RESULTS = "results"
_NAMED = 8  # LFNs and ids in a tooltip
_LABEL = "Jobs in columns by level, and the files between them; the table says the same"
# pixels
_BOX = 136
_GAP = 64
_ROW = 46
_HIGH = 30
_PLACES = {  # where files are -> color and dashes of their lines
    "on the tier": (BUFFER, [1, 0]),
    "on the PFS": (PFS, [9, 5]),
    "on the PFS, by a link": (PFS, [2, 5]),
}


@dataclass(slots=True)
class JobBox:
    """Jobs that share a box; inputs and results are boxes without jobs."""

    name: str
    level: int
    members: list[str] = field(default_factory=list)  # ids of jobs

    alone: bool = True  # no other box has that name

    @property
    def label(self) -> str:
        count = len(self.members)
        if count == 1 and not self.alone:
            return f"{self.members[0]}: {self.name}"
        return f"{self.name} x{count}" if count > 1 else self.name


@dataclass(slots=True)
class FileStream:
    """All files that go from one box to another and live in one place."""

    source: str
    dest: str
    tier: str  # or pfs
    how: str  # copy | link | write
    size: int = 0  # bytes of the files whose size is known
    members: list[str] = field(default_factory=list)  # LFNs

    @property
    def place(self) -> str:
        if self.tier != PFS_TIER:
            return "on the tier"
        return "on the PFS, by a link" if self.how == "link" else "on the PFS"

    @property
    def title(self) -> str:
        files = format_files(len(self.members))
        where = f"on the PFS ({self.how})" if self.tier == PFS_TIER else self.tier
        return f"{files}, {format_size(self.size)}, {where}{_some(self.members)}"


@dataclass(frozen=True)
class WorkflowDrawing:
    """Boxes by key, in the order of the workflow, and streams between them."""

    groups: Mapping[str, JobBox]
    streams: list[FileStream]


def grouped(workflow: Workflow, graph: Graph, placement: Placement) -> WorkflowDrawing:
    """Group jobs into boxes and files into streams. Linear in the uses of all jobs."""
    few = len(workflow.jobs) <= EACH
    groups = {INPUTS: JobBox(INPUTS, 0)}
    keys: dict[str, str] = {}
    for ident, job in workflow.jobs.items():
        level = graph.level[ident]
        keys[ident] = f"job {ident}" if few else f"{level} {job.name}"
        groups.setdefault(keys[ident], JobBox(job.name, level)).members.append(ident)
    groups[RESULTS] = JobBox(RESULTS, max(graph.level.values(), default=0) + 1)
    streams: dict[tuple[str, str, str, str], FileStream] = {}
    for lfn, source, dest in dict.fromkeys(_ways(workflow, graph, keys)):
        file = placement.files[lfn]
        key = (source, dest, file.tier, file.how)
        stream = streams.setdefault(key, FileStream(*key))
        stream.size += file.size or 0
        stream.members.append(lfn)
    names = Counter(group.name for group in groups.values())
    for group in groups.values():
        group.alone = names[group.name] == 1
    used = {end for stream in streams.values() for end in (stream.source, stream.dest)}
    kept = {k: g for k, g in groups.items() if g.members or k in used}
    return WorkflowDrawing(kept, list(streams.values()))


def _ways(
    workflow: Workflow, graph: Graph, keys: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield (LFN, from, to) of every use, and of every result."""
    for ident, job in workflow.jobs.items():
        for use in job.uses:
            if use.kind == "input":
                maker = graph.producer.get(use.lfn)
                yield use.lfn, keys[maker] if maker else INPUTS, keys[ident]
            elif use.stage_out:
                yield use.lfn, keys[ident], RESULTS


def picture(flow: WorkflowDrawing) -> Chart:
    """Draw all of ``flow``; a line is the wider the more bytes it stands for."""
    boxes = dict(_boxes(flow))
    lines = (row for stream in flow.streams for row in _line(stream, boxes))
    data = Dataset((Column("title", "in it"),), [*lines, *boxes.values()])
    width = max((box["right"] for box in boxes.values()), default=0)
    height = max((box["bottom"] for box in boxes.values()), default=0)
    base = draw(data).encode(x=_place(alt.X, width), y=_place(alt.Y, height))
    box = base.transform_filter("isValid(datum.label)")
    drawing = alt.layer(
        _lines(base.transform_filter("isValid(datum.stream)")),
        box.mark_rect(fill=SOFT, stroke=LINE, cornerRadius=5).encode(
            x2="right:Q", y2="bottom:Q"
        ),
        box.mark_text(align="left", dx=8, dy=_HIGH / 2, limit=_BOX - 16).encode(
            text="label:N"
        ),
    )
    frameless = drawing.properties(view=alt.ViewBackground(stroke=None))
    return chart(frameless, _LABEL, height, data=data, width=width)


def _place(channel: type[Channel], pixels: float) -> Channel:
    ends = [0, pixels] if channel is alt.X else [pixels, 0]
    name = "x:Q" if channel is alt.X else "y:Q"
    return channel(name, axis=None, scale=alt.Scale(domain=ends, nice=False))


def _lines(base: alt.Chart) -> alt.Chart:
    colors, dashes = zip(*_PLACES.values(), strict=True)
    names = list(_PLACES)
    # As long as it takes to tell dashes from dots.
    key = alt.Legend(symbolType="stroke", symbolSize=1400, symbolStrokeWidth=3)
    widths = alt.Scale(type="sqrt", range=[1.5, 16])
    found: alt.Chart = base.mark_line(interpolate="basis", strokeOpacity=0.55).encode(
        detail="stream:N",
        order="step:O",
        color=alt.Color(
            "place:N", scale=alt.Scale(domain=names, range=colors), legend=key
        ),
        strokeDash=alt.StrokeDash(
            "place:N", scale=alt.Scale(domain=names, range=dashes), legend=key
        ),
        strokeWidth=alt.StrokeWidth("bytes:Q", scale=widths, legend=None),
    )
    return found


def _line(stream: FileStream, boxes: Mapping[str, DataRow]) -> Iterator[DataRow]:
    """Yield four points of a curve that leaves a box and enters one horizontally."""
    source = boxes[stream.source]
    dest = boxes[stream.dest]
    y = source["y"] + _HIGH / 2
    to_y = dest["y"] + _HIGH / 2
    middle = (source["right"] + dest["x"]) / 2
    points = (source["right"], y), (middle, y), (middle, to_y), (dest["x"], to_y)
    ends = f"{stream.source} {stream.dest} {stream.tier} {stream.how}"
    shown = {"stream": ends, "bytes": stream.size, "place": stream.place}
    for step, (x, y) in enumerate(points):
        yield {**shown, "step": step, "x": x, "y": y, "title": stream.title}


def _boxes(flow: WorkflowDrawing) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the boxes. Columns are centred: long and short ones face each other."""
    columns: dict[int, list[str]] = {}
    for key, group in flow.groups.items():
        columns.setdefault(group.level, []).append(key)
    tallest = max(map(len, columns.values()), default=0)
    for column, level in enumerate(sorted(columns)):
        above = (tallest - len(columns[level])) * _ROW / 2
        for row, key in enumerate(columns[level]):
            group = flow.groups[key]
            x = column * (_BOX + _GAP)
            y = above + row * _ROW
            ends = {"x": x, "y": y, "right": x + _BOX, "bottom": y + _HIGH}
            title = f"{group.label}{_some(group.members)}"
            yield key, {**ends, "label": group.label, "title": title}


def _some(members: list[str]) -> str:
    more = ", ..." if len(members) > _NAMED else ""
    return f": {', '.join(members[:_NAMED])}{more}" if members else ""
