"""Live bytes on the tier over the time of a run, against what was reserved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pegasus_bb.page.figure import Figure, Number, Table, table
from pegasus_bb.page.plot import Mark, Plot, Text, axes
from pegasus_bb.page.said import said
from pegasus_bb.page.scale import Scale, from_zero
from pegasus_bb.page.timeline import LEFT, RIGHT, WIDTH

_HEIGHT, _TOP = 220, 34
_TITLE = "Live bytes on the tier"
Steps = Sequence[Sequence[float]]


class _Part(NamedTuple):
    """What stands under a key of the run."""

    head: str
    bytes: str  # the head of their column
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
    """Of the first run on the burst buffer of which it is known."""
    runs = [run for run in document["runs"]["bb"] if any(_parts(run))]
    if not runs:
        return Figure(
            "live",
            _TITLE,
            "Left out: nothing tells what was on the tier. A submit directory of any "
            "mode but off, with its job lists and its bb folder, would.",
        )
    run = runs[0]
    parts = list(_parts(run))
    across = from_zero(_times(run, parts), LEFT, WIDTH - RIGHT, "s")
    return Figure(
        "live",
        _TITLE,
        _about(run, parts),
        tuple(_plot(_PARTS[key], run[key], across) for key in parts),
        tuple(t for key in parts for t in _tables(_PARTS[key], run[key])),
    )


def _parts(run: Mapping[str, Any]) -> Iterator[str]:
    return (key for key in _PARTS if run[key] and run[key]["steps"])


def _times(run: Mapping[str, Any], parts: Sequence[str]) -> Iterator[float]:
    """What the axis must have room for."""
    yield from (task["offset"] + task["duration"] for task in run["tasks"])
    for key in parts:
        for steps in (run[key]["steps"], run[key]["reserved"]):
            yield from (at for at, _ in steps)


def _plot(part: _Part, found: Mapping[str, Any], across: Scale) -> Plot:
    steps, capacity = found["steps"], found["capacity"]
    sizes = [size for _, size in steps] + ([capacity] if capacity else [])
    up = from_zero(sizes, _TOP + _HEIGHT, _TOP, "B")
    marks = [Mark(_path(steps, across, up), "k-compute")]
    texts = [Text(LEFT, _TOP - 12, part.head, style="head")]
    if capacity is not None:
        whole = [[0.0, capacity]]
        path = _path(found["reserved"] or whole, across, up)
        words = f"{part.reserved}: {said(capacity, 'B')}"
        marks.append(Mark(path, "reserved line", words))
        texts.append(Text(WIDTH - RIGHT, _TOP - 12, words, "end", "reserved"))
    panel = (LEFT, _TOP, WIDTH - LEFT - RIGHT, _HEIGHT)
    return Plot(
        WIDTH,
        _TOP + _HEIGHT + 30,
        (axes(panel, marks, across, up, texts),),
        f"Live bytes over time {part.head}; the table below has them",
    )


def _path(steps: Steps, across: Scale, up: Scale) -> str:
    """What was there from the beginning on, or is to the end, has no edge there."""
    ground, left, right = up.at(0), across.begin, across.end
    path = [f"M{min(right, max(left, across.at(steps[0][0]))):g},{ground:g}"]
    for at, size in steps:
        path.append(f"H{min(right, max(left, across.at(at))):g}V{up.at(size):g}")
    return "".join(path) + ("" if not steps[-1][1] else f"H{right:g}V{ground:g}")


def _about(run: Mapping[str, Any], parts: Sequence[str]) -> str:
    most = " and ".join(
        f"{said(run[key]['most'], 'B')} {_PARTS[key].head}" for key in parts
    )
    unknown = " and ".join(
        f"{said(run[key]['unknown'], 'files')} {_PARTS[key].head}"
        for key in parts
        if run[key]["unknown"]
    )
    return (
        f"At most {most}. A file counts from the start of the job that brings or "
        "writes it to the end of the one that removes it, or of the reservation."
        + (f" Not in it, of unknown size or writer: {unknown}." if unknown else "")
    )


def _tables(part: _Part, found: Mapping[str, Any]) -> Iterator[Table]:
    for words, head, steps in (
        ("Live bytes", part.bytes, found["steps"]),
        ("Reserved", "bytes reserved", found["reserved"]),
    ):
        rows = [(Number(at, "s"), Number(size, "B")) for at, size in steps]
        if rows:
            caption = f"{words} {part.head}, from then on"
            yield table(caption, ("seconds since the run began", head), rows)
