"""Live bytes on the tier over the time of a run, against what was reserved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegasus_bb.page.figure import Figure, Number, table
from pegasus_bb.page.plot import Mark, Plot, Text, axes
from pegasus_bb.page.said import said
from pegasus_bb.page.scale import Scale, from_zero
from pegasus_bb.page.timeline import LEFT, RIGHT, WIDTH

_HEIGHT, _TOP = 220, 14
_TITLE = "Live bytes on the tier"


def live(document: Mapping[str, Any]) -> Figure:
    """Of the first run on the burst buffer of which it is known."""
    runs = [
        run for run in document["runs"]["bb"] if run["live"] and run["live"]["steps"]
    ]
    if not runs:
        return Figure(
            "live",
            _TITLE,
            "Left out: nothing tells what was on the tier. A submit directory of mode "
            "persistent, with its job lists and bb/placement.json, would.",
        )
    found = runs[0]["live"]
    steps, capacity = found["steps"], found["capacity"]
    ends = [task["offset"] + task["duration"] for task in runs[0]["tasks"]]
    across = from_zero(ends, LEFT, WIDTH - RIGHT, "s")
    sizes = [size for _, size in steps] + ([capacity] if capacity else [])
    up = from_zero(sizes, _TOP + _HEIGHT, _TOP, "B")
    marks, texts = [Mark(_area(steps, across, up), "k-compute")], []
    if capacity is not None:
        y = up.at(capacity)
        marks.append(Mark(f"M{LEFT},{y:g}H{WIDTH - RIGHT}", "reserved"))
        words = f"reserved: {said(capacity, 'B')}"
        texts.append(Text(LEFT + 8, y + 15, words, style="reserved"))
    panel = (LEFT, _TOP, WIDTH - LEFT - RIGHT, _HEIGHT)
    plot = Plot(
        WIDTH,
        _TOP + _HEIGHT + 30,
        (axes(panel, marks, across, up, texts),),
        "Live bytes over time; the table below has them",
    )
    rows = [(Number(at, "s"), Number(size, "B")) for at, size in steps]
    return Figure(
        "live", _TITLE, _about(found), (plot,), (table("From then on", _HEAD, rows),)
    )


_HEAD = ("seconds since the run began", "bytes on the tier")


def _about(found: Mapping[str, Any]) -> str:
    unknown = found["unknown"]
    files = said(unknown, "files")
    return (
        f"At most {said(found['most'], 'B')}. A file counts from the start of the job "
        "that brings or writes it to the end of the one that removes it."
        + (f" Not in it: {files} of unknown size or writer." if unknown else "")
    )


def _area(steps: list[list[float]], across: Scale, up: Scale) -> str:
    ground = up.at(0)
    path = [f"M{across.at(steps[0][0]):g},{ground:g}"]
    path += (f"H{across.at(at):g}V{up.at(size):g}" for at, size in steps)
    return "".join(path) + f"V{ground:g}z"
