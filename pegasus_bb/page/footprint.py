"""Run time and waiting of each job against its footprint: figure 7 of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pegasus_bb.page.figure import Cell, Figure, Number, Table, table
from pegasus_bb.page.plot import (
    SIDES,
    Mark,
    Panel,
    Plot,
    Text,
    axes,
    key_of_sides,
    symbol,
)
from pegasus_bb.page.said import said
from pegasus_bb.page.scale import from_zero, spread

_TITLE = "Run time and waiting against footprint"
_POINTS = 2000  # of a side: those with the largest footprints
_LEFT, _TOP, _WIDTH, _HEIGHT, _BETWEEN = 90, 26, 400, 240, 110


class _Point(NamedTuple):
    footprint: float  # bytes
    seconds: float
    side: str
    node: str


def footprint(document: Mapping[str, Any]) -> Figure:
    """A point for each job and side, a panel for each kind of time."""
    jobs = document["jobs"]
    names = {"run_time": "run time", "io_wait": _wait(document)}
    found = {key: list(_points(jobs, key)) for key in names}
    panels = [
        _panel(found[key], words, number)
        for number, (key, words) in enumerate(names.items())
        if found[key]
    ]
    if not panels:
        return Figure(
            "footprint",
            _TITLE,
            "Left out: no record tells how many bytes its job read and wrote. Those of "
            "our launcher, of Kickstart with -t, and Darshan logs do.",
        )
    plot = Plot(
        2 * (_LEFT + _WIDTH) + 80,
        _TOP + _HEIGHT + 50,
        tuple(panels),
        "Run time and waiting of each job against its footprint; the table below has "
        "the numbers",
        key_of_sides(),
    )
    about = (
        "Each job of the user's by the bytes that it read and wrote; means over "
        "repetitions. Down is better."
    )
    return Figure(
        "footprint", _TITLE, about, (plot,), (_table(jobs, names["io_wait"]),)
    )


def _wait(document: Mapping[str, Any]) -> str:
    return "I/O wait" if document["io_wait"] == "measured" else "time off CPU"


def _points(jobs: Sequence[Mapping[str, Any]], key: str) -> Iterator[_Point]:
    for side in SIDES:
        stats = ((job, job["bytes_moved"][side], job[key][side]) for job in jobs)
        points = [
            _Point(moved["mean"], time["mean"], side, f"{job['name']} {job['job']}")
            for job, moved, time in stats
            if moved and time
        ]
        yield from sorted(points, reverse=True)[:_POINTS]


def _panel(points: Sequence[_Point], words: str, number: int) -> Panel:
    left = _LEFT + number * (_WIDTH + _BETWEEN)
    across = spread([p.footprint for p in points], left, left + _WIDTH, "B")
    up = from_zero([p.seconds for p in points], _TOP + _HEIGHT, _TOP, "s")
    marks = [
        Mark(
            symbol(p.side, across.at(p.footprint), up.at(p.seconds)),
            p.side,
            f"{p.node}, {SIDES[p.side]}: {words} {said(p.seconds, 's')}, "
            f"moved {said(p.footprint, 'B')}",
        )
        for p in points
    ]
    texts = [
        Text(left, _TOP - 10, words, style="head"),
        Text(left + _WIDTH, _TOP + _HEIGHT + 38, "bytes read and written", "end"),
    ]
    return axes((left, _TOP, _WIDTH, _HEIGHT), marks, across, up, texts)


_UNITS = {"bytes_moved": "B", "run_time": "s", "io_wait": "s"}


def _table(jobs: Sequence[Mapping[str, Any]], wait: str) -> Table:
    words = ("bytes read and written", "run time", wait)
    head = ("job", *(f"{word}, {side}" for word in words for side in ("PFS", "BB")))
    return table("Each job", head, [_row(job) for job in jobs])


def _row(job: Mapping[str, Any]) -> tuple[Cell, ...]:
    means = (
        Number((job[key][side] or {}).get("mean"), unit)
        for key, unit in _UNITS.items()
        for side in SIDES
    )
    return (f"{job['name']} {job['job']}", *means)
