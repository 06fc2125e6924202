"""Time per process in I/O calls (Ferreira da Silva et al. 2017, Figs. 12 and 13)."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.page.bars import stacked_bars
from pegasus_bb.page.charts import sides
from pegasus_bb.page.dataset import Column, Dataset, Row
from pegasus_bb.page.figure import Figure, table
from pegasus_bb.page.quantity import RATIO
from pegasus_bb.report.document import Comparison
from pegasus_bb.report.document import Row as LayerRow

_TITLE = "Time per process"
_MISSING = (
    "Left out: there is no Darshan log of these runs. Put logs anywhere below the "
    "submit directories."
)
_ABOUT = (
    "Mean seconds that a process spent in calls; other is the rest of its run time: "
    "computing, waiting, calls of other layers. POSIX, MPI-IO and STDIO are layers. "
    "One may call another, so they are not to be added up."
)
_IN_CALLS = {"read": "read_time", "write": "write_time", "metadata": "meta_time"}
_COLUMNS = (
    Column("name", "transformation, layer, side"),
    *(Column(part, part, "s", axis="part") for part in (*_IN_CALLS, "other")),
    Column("slowest_time", "slowest process", "s"),
    Column("slowest_to_average", "slowest to average", RATIO),
    Column("processes", "processes", "processes"),
)
_KEYS = {**_IN_CALLS, "other": "other_time"}
_LABEL = "Seconds per process of each transformation; the table has the numbers"


def calls(found: Comparison) -> Figure:
    """A bar for each transformation, layer and side; layers are never added up."""
    rows = [row for layer in found.layers for row in _rows(layer)]
    if not rows:
        return Figure("calls", _TITLE, _MISSING)
    data = Dataset(_COLUMNS, rows)
    charts, tables = stacked_bars(data, _LABEL), table("Seconds per process", data)
    return Figure("calls", _TITLE, _ABOUT, (charts,), (tables,))


def _rows(layer: LayerRow) -> Iterator[Row]:
    """A row of each side whose calls were measured."""
    for side, short in (("PFS", "PFS"), ("burst buffer", "BB")):
        keys = {each.key: _KEYS.get(each.key, each.key) for each in _COLUMNS[1:]}
        found = {key: dict(sides(layer.cells[metric])) for key, metric in keys.items()}
        means = {key: stats[side].mean for key, stats in found.items() if side in stats}
        if all(key in means for key in _IN_CALLS):
            yield {"name": f"{layer.name}, {layer.layer}, {short}", **means}
