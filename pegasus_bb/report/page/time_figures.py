"""The time of transformations: as they ran, in I/O calls, in user and system mode.

Ferreira da Silva et al. 2019, Figs. 12 to 15, have the last two.
"""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.model.stat import Pair
from pegasus_bb.report.metrics import RATIO, TO_ONE
from pegasus_bb.report.page.charts import ALERT, LINES, SOFT, STAGE_IN, WAIT, sides
from pegasus_bb.report.page.drawings import paired_bars, stacked_bars
from pegasus_bb.report.page.figure import Column, DataRow, Dataset, Figure
from pegasus_bb.report.page.overview import each_kind
from pegasus_bb.report.report_document import Comparison, Row

_RUN_TITLE = "Run time by transformation"
_NO_RUNS = "Left out: no record is of a compute job."
_RUN_ABOUT = "Seconds of all jobs of a transformation, added up."
_MOST = 20  # transformations that are drawn
_TITLE = "Time per process"
_MISSING = (
    "Left out: there is no Darshan log of these runs. Put logs anywhere below the "
    "submit directories."
)
_ABOUT = (
    "Mean seconds that a process spent in calls; other is the rest of its run time: "
    "computing, waiting, calls of other layers. POSIX, MPI-IO and STDIO are layers. "
    "One may call another, so do not add them up."
)
_IN_CALLS = ("read", "write", "metadata")
_PARTS = {"read": STAGE_IN, "write": WAIT, "metadata": ALERT, "other": SOFT}
_COLUMNS = (
    Column("name", "transformation, layer, side"),
    *(Column(part, part, "s") for part in _PARTS),
    Column("slowest", "slowest process", "s"),
    Column("slowest_to_average", "slowest to average", RATIO),
    Column("processes", "processes", "processes"),
)
_LABEL = "Seconds per process of each transformation; the table has the numbers"
_CPU_TITLE = "User time to system time"
_NO_CPU = (
    "Left out: no record has CPU times. Records of Kickstart and of our recorder have "
    "them."
)
_CPU_ABOUT = (
    "CPU time in user mode to CPU time in the kernel. The larger it is, the less of "
    "its time a job spends on input and output."
)
_CPU_LABEL = "User to system time of each transformation; the table has the numbers"


def transformations(found: Comparison) -> Figure:
    """Draw those that took longest; the tables have all."""
    pairs = {row.name: row.cells["run_time"] for row in found.compute}
    longest = sorted(pairs, key=lambda name: -_seconds(pairs[name]))[:_MOST]
    if not longest:
        return Figure("transformations", _RUN_TITLE, _NO_RUNS)
    shown = {name: pairs[name] for name in pairs if name in longest}
    label = "Run time of each transformation; the tables have the numbers"
    _, bars = paired_bars("transformation", "run time", "s", shown, label)
    about = _RUN_ABOUT + (LINES if found.repeated else "")
    if len(pairs) > _MOST:
        about += f" The {_MOST} that took longest are drawn."
    tables = each_kind(found)
    return Figure("transformations", _RUN_TITLE, about, (bars,), tables)


def _seconds(pair: Pair) -> float:
    return max((stat.mean for stat in (pair.pfs, pair.bb) if stat), default=0.0)


def calls(found: Comparison) -> Figure:
    """Draw a bar for each transformation, layer and side; layers are never added up."""
    rows = [row for layer in found.layers for row in _rows(layer)]
    if not rows:
        return Figure("calls", _TITLE, _MISSING)
    data = Dataset(_COLUMNS, rows)
    charts = (stacked_bars(data, _PARTS, _LABEL),)
    return Figure("calls", _TITLE, _ABOUT, charts, (data.table("Seconds per process"),))


def _rows(layer: Row) -> Iterator[DataRow]:
    for side, short in (("PFS", "PFS"), ("burst buffer", "BB")):
        means = {
            column.key: stats[side].mean
            for column in _COLUMNS[1:]
            if side in (stats := dict(sides(layer.cells[_metric(column)])))
        }
        if all(key in means for key in _IN_CALLS):
            yield {"name": f"{layer.name}, {layer.layer}, {short}", **means}


def _metric(column: Column) -> str:
    key = column.key.replace("metadata", "meta")
    return f"{key}_time" if column.unit == "s" else key


def processors(found: Comparison) -> Figure:
    pairs = {row.name: row.cells["user_system"] for row in found.compute}
    pairs = {name: pair for name, pair in pairs.items() if pair.pfs or pair.bb}
    if not pairs:
        return Figure("processors", _CPU_TITLE, _NO_CPU)
    names = ("transformation", "user to system", TO_ONE)
    data, bars = paired_bars(*names, pairs, _CPU_LABEL)
    tables = (data.table("User to system"),)
    about = _CPU_ABOUT + (LINES if found.repeated else "")
    return Figure("processors", _CPU_TITLE, about, (bars,), tables)
