"""Time per process in calls for input and output: figures 12 and 13 of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegasus_bb.page.bars import Bar, Part, bars
from pegasus_bb.page.figure import Cell, Figure, Number, Table, table
from pegasus_bb.page.plot import SIDES, key_of
from pegasus_bb.page.said import RATIO, said

_TITLE = "Time per process"
_IN_CALLS = {"read_time": "read", "write_time": "write", "meta_time": "metadata"}
_PARTS = {**_IN_CALLS, "other_time": "other"}
_KEY = tuple((f"c-{key}", words) for key, words in _PARTS.items())
_MORE = {
    "slowest_time": ("slowest process", "s"),
    "slowest_to_average": ("slowest to average", RATIO),
    "processes": ("processes", "processes"),
}


def calls(document: Mapping[str, Any]) -> Figure:
    """Two bars for each transformation and layer; layers are never added."""
    layers = document["darshan"]["layers"]
    found = [bar for layer in layers for bar in _bars(layer)]
    if not found:
        return Figure(
            "calls",
            _TITLE,
            "Left out: there is no Darshan log of these runs. Logs anywhere below the "
            "submit directories tell it.",
        )
    label = "Seconds per process of each transformation; the table below has them"
    return Figure(
        "calls",
        _TITLE,
        "Seconds that a process spent in calls, on average; other is what is left of "
        "its run time: computing, waiting, calls of other layers. POSIX, MPI-IO and "
        "STDIO are layers, of which one may call another: they are not to be added.",
        (bars(found, "s", label, key_of(*_KEY)),),
        tuple(_table(layers, side) for side in SIDES),
    )


def _name(layer: Mapping[str, Any]) -> str:
    return f"{layer['name']}, {layer['layer']}"


def _bars(layer: Mapping[str, Any]) -> Iterator[Bar]:
    """What is not known of a side is no bar."""
    first = True
    for side, words in SIDES.items():
        stats = {key: layer[key][side] for key in _PARTS}
        if all(stats[key] for key in _IN_CALLS):
            parts = tuple(
                Part(stat["mean"], f"c-{key}", _title(layer, words, key, stat["mean"]))
                for key, stat in stats.items()
                if stat
            )
            yield Bar(f"{_name(layer)}, {_SHORT[side]}", parts, apart=first)
            first = False


_SHORT = {"pfs": "PFS", "bb": "BB"}


def _title(layer: Mapping[str, Any], side: str, key: str, seconds: float) -> str:
    return f"{_name(layer)}, {side}, {_PARTS[key]}: {said(seconds, 's')}"


def _table(layers: list[Mapping[str, Any]], side: str) -> Table:
    head = ("transformation, layer", *_PARTS.values(), *(w for w, _ in _MORE.values()))
    rows = [_row(layer, side) for layer in layers]
    return table(f"Seconds per process, {SIDES[side]}", head, rows)


def _row(layer: Mapping[str, Any], side: str) -> tuple[Cell, ...]:
    units = {
        **dict.fromkeys(_PARTS, "s"),
        **{k: unit for k, (_, unit) in _MORE.items()},
    }
    means = ((layer[key][side] or {}).get("mean") for key in units)
    numbers = (
        Number(mean, unit) for mean, unit in zip(means, units.values(), strict=True)
    )
    return (_name(layer), *numbers)
