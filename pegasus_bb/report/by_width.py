"""How bandwidth grows with the number of processes, where several were tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegasus_bb.report.by_layer import LayerRow
from pegasus_bb.report.stats import Pair

_RATES = {"read": "read_bandwidth", "write": "write_bandwidth"}
SHOWN = ("processes", *_RATES.values())
Gain = Mapping[str, float | None]  # side -> to the bandwidth with fewest processes


def widths(rows: Sequence[LayerRow]) -> list[tuple[LayerRow, Mapping[str, Gain]]]:
    """Of ``rows``, one for each width, those of transformations and layers that ran
    with several, with what more processes have gained."""
    groups: dict[tuple[str, str], list[LayerRow]] = {}
    for row in rows:
        groups.setdefault((row.name, row.layer), []).append(row)
    return [
        (row, _gains(row, group))
        for group in groups.values()
        if len(group) > 1
        for row in sorted(group, key=processes)
    ]


def processes(row: LayerRow) -> float:
    """How many there were."""
    pair = row.cells["processes"]
    return next(stat.mean for stat in (pair.pfs, pair.bb) if stat is not None)


def _gains(row: LayerRow, group: Sequence[LayerRow]) -> dict[str, Gain]:
    return {
        f"{way}_gain": {
            side: _gain([(processes(r), _mean(r, rate, side)) for r in group], row)
            for side in ("pfs", "bb")
        }
        for way, rate in _RATES.items()
    }


def _gain(rates: Sequence[tuple[float, float | None]], row: LayerRow) -> float | None:
    """To the fewest processes of which it is known."""
    known = {width: rate for width, rate in rates if rate}
    here = known.get(processes(row))
    return here / known[min(known)] if here else None


def _mean(row: LayerRow, rate: str, side: str) -> float | None:
    pair: Pair = row.cells[rate]
    stat: Any = getattr(pair, side)
    return stat.mean if stat else None
