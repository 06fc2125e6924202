"""The tables of a report: the whole workflow, and each transformation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pegasus_bb.model.run import PARTS
from pegasus_bb.model.stat import Pair, Stat
from pegasus_bb.page.figure import RATIO, TO_ONE, Cell, Number, Table
from pegasus_bb.report.compare import STAGING_UNITS
from pegasus_bb.report.document import Comparison
from pegasus_bb.report.metrics import IOWait
from pegasus_bb.report.tables import CLOCK, STAGING

_HEAD = ("", "PFS", "standard error", "BB", "standard error", "PFS/BB", "difference")
_TASKS = {
    "bytes_moved": "bytes read and written",
    "queue": "queueing, added up",
    "ready_wait": "ready and not submitted, added up",
    "bandwidth": "bandwidth of all at once",
    "block_read": "bytes from block devices",
    "block_written": "bytes to block devices",
    "io_time": "time in calls",
    "io_rate": "bytes per second in calls",
    "user_time": "CPU time in user mode",
    "system_time": "CPU time in the kernel",
    "user_system": "user to system time",
}
# A ratio of these would read the other way round, or mean nothing.
_NO_RATIO = ("jobs", "io_rate", "bandwidth", "user_system", "in_rate", "out_rate")
_DIFFERENCE = {True: "beyond error", False: "within error", None: ""}


def overview(found: Comparison) -> Iterator[Table]:
    """Makespan, where the time went, staging, then each transformation."""
    yield _table("The whole workflow", found.workflow, PARTS)
    caption = "By the clock: each second counts once, for the first of these"
    rest = {"other": "none of these: the engine's own time"}
    yield _table(caption, found.clock, {**CLOCK, **rest})
    results = {"results_safe": "until the last result is safe"}
    names = {**STAGING, **results}
    yield _table("Staging and results", found.staging, names, STAGING_UNITS)
    units = {metric.key: metric.unit for metric in found.metrics}
    units |= {"jobs": "jobs", "user_system": TO_ONE}
    measured = found.io_wait is IOWait.MEASURED
    names = {**_TASKS, "io_wait": "I/O wait" if measured else "time off CPU"}
    whole = [found.all_compute] if len(found.compute) > 1 else []
    for row in (*found.compute, *whole):
        yield _table(row.name, row.cells, names, units)
    for row in found.auxiliary:
        yield _table(f"auxiliary jobs: {row.name}", row.cells, names, units)


def _table(
    caption: str,
    pairs: Mapping[str, Pair],
    names: Mapping[str, str],
    units: Mapping[str, str] | None = None,
) -> Table:
    rows = (
        (names.get(key, key.replace("_", " ")), *_cells(key, pairs[key], unit))
        for key, unit in (units or dict.fromkeys(pairs, "s")).items()
        if key in pairs and (pairs[key].pfs or pairs[key].bb)
    )
    return Table(caption, _HEAD, tuple(rows))


def _cells(key: str, pair: Pair, unit: str) -> Iterator[Cell]:
    yield from _mean_and_error(pair.pfs, unit)
    yield from _mean_and_error(pair.bb, unit)
    has_ratio = key not in _NO_RATIO
    yield Number(pair.ratio, RATIO) if has_ratio else ""
    yield _DIFFERENCE[pair.beyond_error] if has_ratio else ""


def _mean_and_error(stat: Stat | None, unit: str) -> tuple[Cell, Cell]:
    if stat is None:
        return Number(None, unit), ""
    one_run = stat.error is None
    return Number(stat.mean, unit), "one run" if one_run else Number(stat.error, unit)
