"""The tables of a page: its workflows, the whole run, each transformation and run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from pegasus_bb.model.mean_and_error import Pair, Stat
from pegasus_bb.report.columns import (
    CLOCK,
    RATIO,
    STAGING,
    WORKFLOW,
    Metric,
    ReportedRun,
)
from pegasus_bb.report.page.figure import FINE, UNKNOWN, FigureTable, Number, TableCell
from pegasus_bb.report.report_document import SIDES, Comparison, Row

NONE = "none"  # the side has no such job
_ALWAYS = ("io_wait",)  # shown where it is unknown, too: a note says why
_DIFFERENCE = {True: "beyond error", False: "within error", None: ""}
_RUNS = ("run", "began", "mode", "tier", "makespan", "time in jobs")


def whole_run(found: Comparison) -> Iterator[FigureTable]:
    """Yield the tables of a run: each second, the jobs by kind, and what staging
    moved."""
    makespan, *kinds = (metric for metric in WORKFLOW if metric.name)
    caption = "By the clock: each second counts once, for the first part under way"
    yield _table(found, caption, {**found.workflow, **found.clock}, (makespan, *CLOCK))
    yield _table(found, "Jobs by kind, added up", found.workflow, kinds, none=NONE)
    table = _table(found, "Staging and results", found.staging, STAGING)
    yield replace(table, note=_on_durability(found))


def _on_durability(found: Comparison) -> str:
    safe = found.staging["results_safe"]
    in_mode_off = all(run.run.was_off for run in found.pfs)
    if not (found.pfs and in_mode_off and safe.bb) or safe.pfs:
        return ""
    return "Unknown on the PFS: in mode off no run notes when a result is durable."


def each_kind(found: Comparison) -> Iterator[FigureTable]:
    """Yield a table for each transformation, then for each kind of auxiliary job."""
    whole = [found.all_compute] if len(found.compute) > 1 else []
    auxiliary = [(f"auxiliary jobs: {row.name}", row) for row in found.auxiliary]
    rows: list[tuple[str, Row]] = [(row.name, row) for row in (*found.compute, *whole)]
    for caption, row in (*rows, *auxiliary):
        yield _table(found, caption, row.cells, found.metrics)


def _table(
    found: Comparison,
    caption: str,
    pairs: Mapping[str, Pair],
    columns: Sequence[Metric[Any]],
    *,
    none: str = "",
) -> FigureTable:
    jobs = pairs.get("jobs")
    rows = [
        (metric.title, *_cells(found, metric, pair, none))
        for metric in columns
        if (pair := pairs[metric.key]).is_measured or metric.key in _ALWAYS
    ]
    absent = {s for s in found.sides if jobs and getattr(jobs, s) is None}
    return FigureTable(
        caption, ("", *_head(found)), tuple(_mark_absent(rows, absent, found))
    )


def _mark_absent(
    rows: list[tuple[TableCell, ...]], absent: set[str], found: Comparison
) -> Iterator[tuple[TableCell, ...]]:
    """Yield the rows; a side that has no such job says so."""
    step = 2 if found.repeated else 1
    columns = {1 + step * found.sides.index(side) for side in absent}
    for row in rows:
        yield tuple(NONE if at in columns else cell for at, cell in enumerate(row))


def _head(found: Comparison) -> Iterator[str]:
    for side in found.sides:
        yield side.upper()
        if found.repeated:
            yield "standard error"
    if found.is_comparison:
        yield "PFS/BB"
    if found.tells_error:
        yield "difference"


def _cells(
    found: Comparison, metric: Metric[Any], pair: Pair, none: str
) -> Iterator[TableCell]:
    for side in found.sides:
        stat = getattr(pair, side)
        yield _mean(stat, metric.unit, none if _knows_jobs(found, metric, side) else "")
        if found.repeated:
            yield _error(stat, metric.unit)
    if found.is_comparison:
        has_ratio = metric.has_ratio and pair.ratio is not None
        unit = FINE if pair.is_fine else RATIO
        yield Number(pair.ratio, unit, pair.doubt) if has_ratio else ""
    if found.tells_error:
        yield _DIFFERENCE[pair.beyond_error]


def _knows_jobs(found: Comparison, metric: Metric[Any], side: str) -> bool:
    """Return whether a missing number means that there was no such job.

    The wait at the gate is in jobstate.log alone: with a reservation it is unknown.
    """
    if metric.key == "gate_wait":
        return getattr(found.workflow["reserve"], side) is None
    return any(reported.run.tasks for reported in getattr(found, side))


def _mean(stat: Stat | None, unit: str, none: str) -> TableCell:
    if stat is None:
        return none or UNKNOWN
    return Number(stat.mean, unit)


def _error(stat: Stat | None, unit: str) -> TableCell:
    return Number(stat.error, unit) if stat and stat.error is not None else ""


def workflows(comparisons: Mapping[str, Comparison]) -> FigureTable:
    """Compare makespans, and say from which size of its files each run gains."""
    known = {side for found in comparisons.values() for side in found.sides}
    sides = [side for side in SIDES if side in known]
    head = [SIDES[side] for side in sides]
    if len(sides) > 1:
        head += ["PFS/BB", "break-even in data", "data of these runs"]
    rows = (tuple(_workflow(name, each, sides)) for name, each in comparisons.items())
    return FigureTable("Makespan of each workflow", ("workflow", *head), tuple(rows))


def _workflow(
    name: str, found: Comparison, sides: Sequence[str]
) -> Iterator[TableCell]:
    pair = found.workflow["makespan"]
    even = found.break_even
    yield name
    for side in sides:
        yield _mean(getattr(pair, side), "s", "")
    if len(sides) > 1:
        yield Number(pair.ratio, RATIO, pair.doubt)
        if even and even.footprint is not None:
            doubt = "" if even.footprint_error is not None else "?"
            yield Number(even.footprint, "B", doubt) if even.footprint else "any size"
        else:
            yield "no break-even" if even and even.net <= 0 else UNKNOWN
        yield Number(even.footprint_now if even else None, "B")


def repetitions(found: Comparison) -> FigureTable:
    rows = (tuple(_run(name, run)) for name, run in found.named_runs())
    return FigureTable("Each run", _RUNS, tuple(rows))


def _run(name: str, reported: ReportedRun) -> Iterator[TableCell]:
    run = reported.run
    yield name
    yield _moment(reported.time.begun)
    yield run.mode or UNKNOWN
    yield run.tier or "none"
    yield Number(run.makespan, "s")
    yield Number(reported.clock.get("compute"), "s")


def _moment(epoch: float | None) -> str:
    """Return UTC, so that a page says the same wherever it was made."""
    try:
        moment = datetime.fromtimestamp(epoch or 0.0, timezone.utc)
    except (OverflowError, ValueError, OSError):  # a record may say anything
        return UNKNOWN
    return UNKNOWN if epoch is None else f"{moment:%Y-%m-%d %H:%M:%S} UTC"
