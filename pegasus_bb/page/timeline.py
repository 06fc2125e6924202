"""Both runs over time, one above the other, with what was on the tier."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from pegasus_bb.page.figure import Figure, Number, Table, table
from pegasus_bb.page.plot import SIDES, Mark, Panel, Plot, Text, key_of, rectangle
from pegasus_bb.page.said import said
from pegasus_bb.page.scale import Scale, from_zero

WIDTH, LEFT, RIGHT = 1040, 120, 40
_LANE, _GAP, _HEAD = 12, 10, 26
_LANES = 16  # of one group; where more jobs ran at once, their number is drawn
_BARS = 1500  # of one group, likewise
# Group -> kinds of its bars. What is told apart has lanes of its own, not only a color.
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "reservation": ("bb_setup", "gate", "bb_delete"),
    "staging": ("stage_in", "stage_inter", "stage_out"),
    "jobs": ("compute",),
    "other": ("create_dir", "register", "cleanup", "other"),
}
_KINDS = {
    "bb_setup": "reserve",
    "gate": "gate wait",
    "bb_delete": "release",
    "stage_in": "stage-in",
    "stage_inter": "stage-in",
    "stage_out": "stage-out",
    "compute": "job",
}
_KEY = ("compute", "stage_in", "stage_out", "bb_setup", "gate", "bb_delete", "other")


class Bar(NamedTuple):
    """Something that took time."""

    start: float  # seconds since the run began
    end: float
    kind: str
    name: str
    seconds: float


def timeline(document: Mapping[str, Any]) -> Figure:
    """The first run of each side."""
    runs = {side: document["runs"][side][0] for side in SIDES}
    bars = {side: list(_bars(run)) for side, run in runs.items()}
    if not any(bars.values()):
        about = "Left out: no record says when a job began. Any Kickstart record does."
        return Figure("timeline", "Timeline", about)
    ends = [bar.end for found in bars.values() for bar in found]
    across = from_zero(ends, LEFT, WIDTH - RIGHT, "s")
    panels, y = [], 0.0
    for side in SIDES:
        panels.append(_panel(SIDES[side], bars[side], across, y))
        y += panels[-1].height + _HEAD + 24
    several = any(len(document["runs"][side]) > 1 for side in SIDES)
    about = "Seconds since the beginning of each run, on one axis."
    if any(bar.kind == "gate" for found in bars.values() for bar in found):
        about += " The gate's are of jobstate.log, in whole seconds."
    plot = Plot(
        width=WIDTH,
        height=y,
        panels=tuple(panels),
        label="Both runs over time; the table below has the times",
        key=key_of(*((f"k-{k}", _KINDS.get(k, "other")) for k in _KEY)),
    )
    return Figure(
        "timeline",
        "Timeline",
        about + (" Of repetitions the first is drawn." if several else ""),
        (plot,),
        tuple(_table(SIDES[side], bars[side]) for side in SIDES),
    )


def _bars(run: Mapping[str, Any]) -> Iterator[Bar]:
    if run["gate_offset"] is not None and run["gate_wait"] is not None:
        start, wait = run["gate_offset"], run["gate_wait"]
        yield Bar(start, start + wait, "gate", "gate", wait)
    for task in run["tasks"]:
        start, took = task["offset"], task["duration"]
        yield Bar(start, start + took, task["kind"], task["node"], took)


def _panel(side: str, bars: Sequence[Bar], across: Scale, top: float) -> Panel:
    marks: list[Mark] = []
    texts = [Text(0, top + 16, side, style="side")]
    y = top + _HEAD
    for group, kinds in _GROUPS.items():
        found = sorted(bar for bar in bars if bar.kind in kinds)
        if not found:
            continue
        lanes = _lanes(found)
        if max(lanes) < _LANES and len(found) <= _BARS:
            height = (max(lanes) + 1) * _LANE
            marks += (_mark(b, across, y, n) for b, n in zip(found, lanes, strict=True))
            words = group
        else:
            height = _LANES * _LANE
            path = _crowd(found, across, y, height)
            marks.append(Mark(path, f"k-{kinds[0]}", f"{group}: how many at once"))
            words = f"{group}, at once"
        texts.append(Text(LEFT - 8, y + _LANE - 2, words, "end"))
        y += height + _GAP
    return Panel(
        LEFT,
        top + _HEAD - 4,
        WIDTH - LEFT - RIGHT,
        y - top - _HEAD,
        tuple(marks),
        across.ticks,
        (),
        tuple(texts),
    )


def _lanes(bars: Sequence[Bar]) -> list[int]:
    """The lowest free lane for each; ``bars`` are in the order of their starts."""
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    lanes = []
    for bar in bars:
        while busy and busy[0][0] <= bar.start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (bar.end, lane))
        lanes.append(lane)
    return lanes


def _mark(bar: Bar, across: Scale, y: float, lane: int) -> Mark:
    left, right = across.at(bar.start), across.at(bar.end)
    path = rectangle(left, y + lane * _LANE, right - left, _LANE - 2)
    what = _KINDS.get(bar.kind, bar.kind)
    begun, took = said(bar.start, "s"), said(bar.seconds, "s")
    return Mark(path, f"k-{bar.kind}", f"{bar.name} ({what}): at {begun}, for {took}")


def _crowd(bars: Sequence[Bar], across: Scale, y: float, height: float) -> str:
    """A curve of how many were under way at each time."""
    changes = sorted([(b.start, 1) for b in bars] + [(b.end, -1) for b in bars])
    at_once = list(accumulate(change for _, change in changes))
    most = max(at_once)
    steps = [f"M{across.at(changes[0][0]):g},{y + height:g}"]
    for (time, _), number in zip(changes, at_once, strict=True):
        level = y + height * (1 - number / most)
        steps.append(f"H{across.at(time):g}V{level:.1f}")
    return "".join(steps) + "z"


def _table(side: str, bars: Sequence[Bar]) -> Table:
    rows = [
        (
            bar.name,
            _KINDS.get(bar.kind, bar.kind),
            Number(bar.start, "s"),
            Number(bar.seconds, "s"),
        )
        for bar in sorted(bars)
    ]
    return table(f"{side}, over time", ("node", "what", "begun", "took"), rows)
