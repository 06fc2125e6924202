"""Runs on the parallel file system against runs on the burst buffer, or one side alone.

Several runs of a side are repetitions. A ratio is PFS to BB: above 1 the burst buffer
took less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.run import Kind, Run
from pegasus_bb.model.stat import Pair, stat, total
from pegasus_bb.report.benchmark import Benchmark
from pegasus_bb.report.breakeven import break_even
from pegasus_bb.report.comparison_notes import notes_on, warnings_on
from pegasus_bb.report.likeness import no_verdict
from pegasus_bb.report.metrics import io_wait_of, metrics, on_several_processors
from pegasus_bb.report.probe import Sample, probed
from pegasus_bb.report.report_document import Comparison, ReportedRun
from pegasus_bb.report.rows import (
    Sides,
    all_compute_row,
    auxiliary_rows,
    file_rows,
    job_rows,
    layer_rows,
    transformation_rows,
    width_rows,
)
from pegasus_bb.report.run_clock import PARTS, by_the_clock, gate_began, run_time

Quantity = Callable[[Run], float | None]


def _kind_time(*kinds: Kind) -> Quantity:
    return lambda run: total(t.duration for t in run.tasks if t.kind in kinds)


# Seconds of a whole run. Those of one kind add up jobs that may have run side by side.
WORKFLOW: Mapping[str, Quantity] = {
    "makespan": lambda run: run.makespan,
    "span": lambda run: run.span,
    "compute": _kind_time(Kind.COMPUTE),
    "stage_in": _kind_time(Kind.STAGE_IN, Kind.STAGE_INTER),
    "stage_out": _kind_time(Kind.STAGE_OUT),
    "reserve": _kind_time(Kind.BB_SETUP),
    "gate_wait": lambda run: run.gate_wait,
    "release": _kind_time(Kind.BB_DELETE),
}


def _rate(size: int | None, seconds: float | None) -> float | None:
    return size / seconds if size is not None and seconds else None


_STAGING: Mapping[str, Quantity] = {
    "in_bytes": lambda run: run.brought,
    "in_rate": lambda run: _rate(run.brought, WORKFLOW["stage_in"](run)),
    "out_bytes": lambda run: run.saved,
    "out_rate": lambda run: _rate(run.saved, WORKFLOW["stage_out"](run)),
    "results_safe": lambda run: run.safe,
    "footprint": lambda run: run.footprint,
}
STAGING_UNITS = {
    "in_bytes": "B",
    "in_rate": "B/s",
    "out_bytes": "B",
    "out_rate": "B/s",
    "results_safe": "s",
    "footprint": "B",
}


def compare(
    pfs: Sequence[Run],
    bb: Sequence[Run],
    benchmark: Benchmark | None = None,
    samples: Sequence[Sample] = (),
) -> Comparison:
    """Both sides next to each other. Raises UsageError if neither has a run."""
    if not pfs and not bb:
        raise UsageError(
            "a report needs a run: --pfs PATH, --bb PATH, or both to compare them"
        )
    sides = Sides(pfs, bb)
    io_wait = io_wait_of([*pfs, *bb])
    columns = metrics(io_wait, on_several_processors([*pfs, *bb]))
    reported = [tuple(_reported(run) for run in side) for side in sides]
    clock = _clock(*reported)
    workflow = _pairs(sides, WORKFLOW)
    staging = _pairs(sides, _STAGING)
    return Comparison(
        pfs=reported[0],
        bb=reported[1],
        io_wait=io_wait,
        metrics=columns,
        compute=transformation_rows(sides, columns),
        all_compute=all_compute_row(sides, columns),
        auxiliary=auxiliary_rows(sides, columns),
        jobs=job_rows(sides, columns),
        layers=layer_rows(sides),
        widths=width_rows(sides),
        files=file_rows(sides),
        workflow=workflow,
        clock=clock,
        staging=staging,
        break_even=None
        if no_verdict(pfs, bb)
        else break_even(
            [run.clock for run in reported[0]],
            [run.clock for run in reported[1]],
            staging["footprint"],
            workflow["makespan"],
        ),
        warnings=warnings_on(pfs, bb),
        notes=notes_on(pfs, bb, io_wait),
        benchmark=benchmark,
        probe=probed(samples, bb),
    )


def _reported(run: Run) -> ReportedRun:
    time = run_time(run)
    gate = gate_began(run)
    offset = None if gate is None else time.at(gate)
    return ReportedRun(run, by_the_clock(run), time, offset)


def _pairs(sides: Sides, quantities: Mapping[str, Quantity]) -> dict[str, Pair]:
    return {
        key: Pair(*(stat(of(run) for run in side) for side in sides))
        for key, of in quantities.items()
    }


def _clock(*sides: Sequence[ReportedRun]) -> dict[str, Pair]:
    return {
        part: Pair(*(stat(run.clock.get(part) for run in side) for side in sides))
        for part in PARTS
    }
