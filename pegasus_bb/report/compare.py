"""Runs on the parallel file system against runs on the burst buffer, or one side alone.

Several runs of a side are repetitions. A ratio is PFS to BB: above 1 the burst buffer
took less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.mean_and_error import Pair, stat
from pegasus_bb.model.run import Run
from pegasus_bb.report.benchmark import Benchmark
from pegasus_bb.report.breakeven import break_even
from pegasus_bb.report.columns import (
    CLOCK,
    LAYER_METRICS,
    STAGING,
    WORKFLOW,
    ReportedRun,
    RunMetric,
    Shown,
    TaskMetric,
    io_wait_of,
    metrics,
    on_several_processors,
)
from pegasus_bb.report.comparison_notes import notes_on, warnings_on
from pegasus_bb.report.probe import Sample, probed
from pegasus_bb.report.report_document import Comparison, Row, Sides
from pegasus_bb.report.rows import (
    all_together,
    by_file,
    by_job,
    by_kind,
    by_layer,
    by_transformation,
    rows,
    width_rows,
)
from pegasus_bb.report.run_clock import by_the_clock, gate_began, run_time
from pegasus_bb.report.verdict import certainty, headline, no_verdict


def compare(
    pfs: Sequence[Run],
    bb: Sequence[Run],
    benchmark: Benchmark | None = None,
    samples: Sequence[Sample] = (),
) -> Comparison:
    """Put both sides next to each other. Raises UsageError if neither has a run."""
    if not pfs and not bb:
        raise UsageError(
            "a report needs a run: --pfs PATH, --bb PATH, or both to compare them"
        )
    sides = Sides(pfs, bb)
    io_wait = io_wait_of(sides.runs)
    columns = metrics(io_wait, on_several_processors(sides.runs))
    of_jobs = [metric for metric in columns if Shown.JOBS in metric.shown]
    together = rows(sides, all_together, columns)
    reported = [tuple(_reported(run) for run in side) for side in sides]
    workflow, clock, staging = (
        _pairs(reported, table) for table in (WORKFLOW, CLOCK, STAGING)
    )
    return Comparison(
        pfs=reported[0],
        bb=reported[1],
        io_wait=io_wait,
        metrics=columns,
        compute=rows(sides, by_transformation, columns),
        all_compute=together[0] if together else _empty_row(columns),
        auxiliary=rows(sides, by_kind, columns),
        jobs=rows(sides, by_job, of_jobs),
        layers=rows(sides, by_layer, LAYER_METRICS),
        widths=width_rows(sides),
        files=rows(sides, by_file, LAYER_METRICS),
        workflow=workflow,
        clock=clock,
        staging=staging,
        headline=headline(sides, workflow["makespan"]),
        certainty=certainty(sides),
        break_even=None
        if no_verdict(sides)
        else break_even(
            [run.clock for run in reported[0]],
            [run.clock for run in reported[1]],
            staging["footprint"],
            workflow["makespan"],
            simulated=sides.is_simulated,
        ),
        warnings=warnings_on(sides),
        notes=notes_on(sides, io_wait),
        benchmark=benchmark,
        probe=probed(samples, bb),
    )


def _reported(run: Run) -> ReportedRun:
    time = run_time(run)
    gate = gate_began(run)
    offset = None if gate is None else time.at(gate)
    return ReportedRun(run, by_the_clock(run), time, offset)


def _empty_row(columns: Iterable[TaskMetric]) -> Row:
    return Row("all", {metric.key: Pair(None, None) for metric in columns})


def _pairs(
    sides: Sequence[Sequence[ReportedRun]], table: Iterable[RunMetric]
) -> dict[str, Pair]:
    return {
        metric.key: Pair(*(stat(map(metric.of, side)) for side in sides))
        for metric in table
    }
