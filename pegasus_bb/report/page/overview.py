"""The tables of a report: the whole run, each transformation, each repetition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pegasus_bb.model.run import PARTS
from pegasus_bb.model.stat import Pair, Stat
from pegasus_bb.report.compare import STAGING_UNITS
from pegasus_bb.report.metrics import IOWait
from pegasus_bb.report.page.figure import (
    FINE,
    RATIO,
    TO_ONE,
    UNKNOWN,
    Cell,
    FigureTable,
    Number,
)
from pegasus_bb.report.report_document import Comparison, Row
from pegasus_bb.report.tables import CLOCK, STAGING

NONE = "none"  # the side has no such job
_TASKS = {
    "bytes_moved": "bytes read and written",
    "queue": "queueing, added up",
    "ready_wait": "waiting for a slot, added up",
    "bandwidth": "bandwidth of all at once",
    "block_read": "bytes from block devices",
    "block_written": "bytes to block devices",
    "io_time": "time in calls",
    "io_rate": "bytes per second in calls",
    "user_time": "CPU time in user mode",
    "system_time": "CPU time in the kernel",
    "user_system": "user to system time",
    "makespan": "from the first one's start to the last one's end",
}
# A ratio of these would read the other way round, or mean nothing.
_NO_RATIO = ("jobs", "io_rate", "bandwidth", "in_rate", "out_rate")
_ALWAYS = ("io_wait",)  # shown where it is unknown, too: a note says why
_DIFFERENCE = {True: "beyond error", False: "within error", None: ""}
_SIDES = {"pfs": "PFS", "bb": "BB"}


def whole_run(found: Comparison) -> tuple[FigureTable, ...]:
    """Where each second went, what jobs took, and what staging moved."""
    return tuple(table for table in _whole_run(found) if table.rows)


def each_kind(found: Comparison) -> tuple[FigureTable, ...]:
    """A table for each transformation, then for each kind of auxiliary job."""
    return tuple(table for table in _each_kind(found) if table.rows)


def _whole_run(found: Comparison) -> Iterator[FigureTable]:
    caption = "By the clock: each second counts once, for the first part under way"
    names = {**CLOCK, "other": "none of these: engine"}
    makespan = {"makespan": found.workflow["makespan"]}
    yield _table(found, caption, {**makespan, **found.clock}, names=names)
    added_up = {k: v for k, v in found.workflow.items() if k in PARTS}
    del added_up["makespan"]
    yield _table(found, "Jobs by kind, added up", added_up, names=PARTS, none=NONE)
    names = {**STAGING, "results_safe": "until the last result is safe"}
    table = _table(
        found, "Staging and results", found.staging, names=names, units=STAGING_UNITS
    )
    yield replace(table, note=_on_durability(found))


def _on_durability(found: Comparison) -> str:
    safe = found.staging["results_safe"]
    in_mode_off = all(run.run.mode == "off" for run in found.pfs)
    if not (found.pfs and in_mode_off and safe.bb) or safe.pfs:
        return ""
    return "Unknown on the PFS: in mode off no run notes when a result is durable."


def _each_kind(found: Comparison) -> Iterator[FigureTable]:
    units = {metric.key: metric.unit for metric in found.metrics}
    units |= {"jobs": "jobs", "user_system": TO_ONE}
    measured = found.io_wait is IOWait.MEASURED
    names = {**_TASKS, "io_wait": "I/O wait" if measured else "time off CPU"}
    whole = [found.all_compute] if len(found.compute) > 1 else []
    auxiliary = [(f"auxiliary jobs: {row.name}", row) for row in found.auxiliary]
    rows: list[tuple[str, Row]] = [(row.name, row) for row in (*found.compute, *whole)]
    for caption, row in (*rows, *auxiliary):
        yield _table(found, caption, row.cells, names=names, units=units)


def _table(
    found: Comparison,
    caption: str,
    pairs: Mapping[str, Pair],
    *,
    names: Mapping[str, str],
    units: Mapping[str, str] | None = None,
    none: str = "",
) -> FigureTable:
    jobs = pairs.get("jobs")
    rows = [
        (names.get(key, key.replace("_", " ")), *_cells(found, key, pair, unit, none))
        for key, unit in (units or dict.fromkeys(pairs, "s")).items()
        if (pair := pairs.get(key)) and (_has_any(pair) or key in _ALWAYS)
    ]
    absent = {s for s in found.sides if jobs and getattr(jobs, s) is None}
    return FigureTable(caption, ("", *_head(found)), tuple(_told(rows, absent, found)))


def _told(
    rows: list[tuple[Cell, ...]], absent: set[str], found: Comparison
) -> Iterator[tuple[Cell, ...]]:
    """Rows in which a side that has no such job says so."""
    step = 2 if found.repeated else 1
    columns = {1 + step * found.sides.index(side) for side in absent}
    for row in rows:
        yield tuple(NONE if at in columns else cell for at, cell in enumerate(row))


def _has_any(pair: Pair) -> bool:
    return any(stat and stat.mean for stat in (pair.pfs, pair.bb))


def _head(found: Comparison) -> Iterator[str]:
    for side in found.sides:
        yield _SIDES[side]
        if found.repeated:
            yield "standard error"
    if found.is_comparison:
        yield "PFS/BB"
    if found.tells_error:
        yield "difference"


def _cells(
    found: Comparison, key: str, pair: Pair, unit: str, none: str
) -> Iterator[Cell]:
    for side in found.sides:
        stat = getattr(pair, side)
        yield _mean(stat, unit, none if _knows_jobs(found, key, side) else "")
        if found.repeated:
            yield _error(stat, unit)
    has_ratio = key not in _NO_RATIO and pair.ratio is not None
    if found.is_comparison:
        unit = FINE if pair.is_fine else RATIO
        doubt = pair.doubt
        yield Number(pair.ratio, unit, doubt) if has_ratio else ""
    if found.tells_error:
        yield _DIFFERENCE[pair.beyond_error]


def _knows_jobs(found: Comparison, key: str, side: str) -> bool:
    """Whether a missing number means that there was no such job.

    The wait at the gate is in jobstate.log alone: with a reservation it is unknown.
    """
    if key == "gate_wait":
        return getattr(found.workflow["reserve"], side) is None
    return any(reported.run.tasks for reported in getattr(found, side))


def _mean(stat: Stat | None, unit: str, none: str) -> Cell:
    if stat is None:
        return none or UNKNOWN
    return Number(stat.mean, unit)


def _error(stat: Stat | None, unit: str) -> Cell:
    return Number(stat.error, unit) if stat and stat.error is not None else ""
