"""Time in user mode to time in the kernel: figures 14 and 15 of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegasus_bb.page.bars import Bar, Part, bars
from pegasus_bb.page.figure import Cell, Figure, table
from pegasus_bb.page.overview import mean_and_error
from pegasus_bb.page.plot import SIDES, key_of
from pegasus_bb.page.said import TO_ONE, said

_TITLE = "User time to system time"


def processors(document: Mapping[str, Any]) -> Figure:
    """Two bars for each transformation."""
    rows = [(row["name"], row["user_system"]) for row in document["compute"]]
    rows = [(name, pair) for name, pair in rows if pair["pfs"] or pair["bb"]]
    found = [bar for name, pair in rows for bar in _bars(name, pair)]
    if not found:
        return Figure(
            "processors",
            _TITLE,
            "Left out: no record tells CPU times. Kickstart's records and our "
            "recorder's do.",
        )
    sides = key_of(*((f"{side} fill", words) for side, words in SIDES.items()))
    label = "User time to system time of each transformation; the table has the numbers"
    return Figure(
        "processors",
        _TITLE,
        "CPU time in user mode to that in the kernel: the more, the less of its time a "
        "job spends on input and output. Lines are the standard error.",
        (bars(found, TO_ONE, label, sides),),
        (table("User to system", _HEAD, [_row(name, pair) for name, pair in rows]),),
    )


_HEAD = ("transformation", "PFS", "standard error", "BB", "standard error")


def _bars(name: str, pair: Mapping[str, Any]) -> Iterator[Bar]:
    for side, words in SIDES.items():
        stat = pair[side]
        if stat:
            title = f"{name}, {words}: {said(stat['mean'], TO_ONE)}"
            part = Part(stat["mean"], f"{side} fill", title)
            begins = side == "pfs" or not pair["pfs"]
            yield Bar(name if begins else "", (part,), stat["error"], begins)


def _row(name: str, pair: Mapping[str, Any]) -> tuple[Cell, ...]:
    cells = (mean_and_error(pair[side], TO_ONE) for side in SIDES)
    return (name, *(cell for both in cells for cell in both))
