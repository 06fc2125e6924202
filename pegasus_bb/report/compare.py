"""Runs on the parallel file system against runs on the burst buffer.

Several runs of a side are repetitions. A ratio is PFS to BB: above 1 the burst buffer
took less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pegasus_bb.errors import UsageError
from pegasus_bb.model.run import Kind, Run, Task
from pegasus_bb.model.stat import stat
from pegasus_bb.report.breakeven import BreakEven, break_even
from pegasus_bb.report.by_job import JobRow, by_job
from pegasus_bb.report.by_layer import LayerRow, by_file, by_layer, by_processes
from pegasus_bb.report.clock import PARTS, by_the_clock
from pegasus_bb.report.metrics import IOWait, Metric, io_wait_of, metrics
from pegasus_bb.report.notes import notes_on
from pegasus_bb.report.stats import Pair, total

Group = Callable[[Task], str | None]  # the name of the row that a task belongs to


@dataclass(frozen=True, slots=True)
class Row:
    """One transformation, or one kind of auxiliary job, on both sides."""

    name: str
    cells: Mapping[str, Pair]  # Metric.key -> pair


@dataclass(frozen=True)
class Comparison:
    """Everything that a report shows."""

    pfs: tuple[Run, ...]
    bb: tuple[Run, ...]
    io_wait: IOWait
    metrics: tuple[Metric, ...]
    compute: tuple[Row, ...]  # a row per transformation of the user's
    all_compute: Row  # those together
    auxiliary: tuple[Row, ...]  # a row per kind: create_dir, stage_in, ...
    workflow: Mapping[str, Pair]  # WORKFLOW's keys -> pair, seconds
    clock: Mapping[str, Pair]  # PARTS -> pair, seconds, each second counted once
    staging: Mapping[str, Pair]  # STAGING's keys -> pair
    notes: tuple[str, ...]  # what a reader must know to judge the numbers

    @property
    def break_even(self) -> BreakEven | None:
        """When staging pays; None where a side has no records."""
        return break_even(self.clock, self.staging["footprint"])

    @cached_property
    def jobs(self) -> tuple[JobRow, ...]:
        """A row per job of the users'."""
        return by_job(self.pfs, self.bb, self.metrics)

    @cached_property
    def layers(self) -> tuple[LayerRow, ...]:
        """With Darshan logs: a row per transformation and layer of calls."""
        return by_layer(self.pfs, self.bb)

    @cached_property
    def widths(self) -> tuple[LayerRow, ...]:
        """With Darshan logs: a row per transformation, layer, number of processes."""
        return by_processes(self.pfs, self.bb)

    @cached_property
    def files(self) -> tuple[LayerRow, ...]:
        """With Darshan logs: a row per transformation, file and layer."""
        return by_file(self.pfs, self.bb)


def _kind_time(*kinds: Kind) -> Callable[[Run], float | None]:
    return lambda run: total(t.duration for t in run.tasks if t.kind in kinds)


# Seconds of a whole run. Those of one kind of job add up jobs that may have run side by
# side.
WORKFLOW: Mapping[str, Callable[[Run], float | None]] = {
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


# Of a whole run, with the unit. What is in seconds or per second adds up jobs that may
# have run side by side.
STAGING: Mapping[str, tuple[str, Callable[[Run], float | None]]] = {
    "in_bytes": ("B", lambda run: run.brought),
    "in_rate": ("B/s", lambda run: _rate(run.brought, WORKFLOW["stage_in"](run))),
    "out_bytes": ("B", lambda run: run.saved),
    "out_rate": ("B/s", lambda run: _rate(run.saved, WORKFLOW["stage_out"](run))),
    "results_safe": ("s", lambda run: run.safe),
    "footprint": ("B", lambda run: run.footprint),
}


def compare(pfs: Sequence[Run], bb: Sequence[Run]) -> Comparison:
    """Both sides next to each other. Raises UsageError where a side has no run."""
    if not pfs or not bb:
        raise UsageError(
            "a comparison needs at least one run of each side: --pfs PATH and --bb PATH"
        )
    io_wait = io_wait_of([*pfs, *bb])
    columns = metrics(io_wait)
    whole = _rows(pfs, bb, columns, lambda t: "all" if _is_compute(t) else None)
    return Comparison(
        pfs=tuple(pfs),
        bb=tuple(bb),
        io_wait=io_wait,
        metrics=columns,
        compute=_rows(pfs, bb, columns, _transformation),
        all_compute=whole[0] if whole else Row("all", _empty(columns)),
        auxiliary=_rows(pfs, bb, columns, _auxiliary_kind),
        workflow={key: _pair(pfs, bb, of) for key, of in WORKFLOW.items()},
        clock=_clock(pfs, bb),
        staging={key: _pair(pfs, bb, of) for key, (_, of) in STAGING.items()},
        notes=notes_on(pfs, bb, io_wait),
    )


def _pair(
    pfs: Sequence[Run], bb: Sequence[Run], of: Callable[[Run], float | None]
) -> Pair:
    return Pair(stat(of(run) for run in pfs), stat(of(run) for run in bb))


def _clock(pfs: Sequence[Run], bb: Sequence[Run]) -> dict[str, Pair]:
    """By the clock, of those runs of which anything is known."""
    sides = [[by_the_clock(run) for run in side] for side in (pfs, bb)]
    return {
        part: Pair(*(stat(parts.get(part) for parts in side) for side in sides))
        for part in PARTS
    }


def _is_compute(task: Task) -> bool:
    return task.kind is Kind.COMPUTE


def _transformation(task: Task) -> str | None:
    return (task.transformation or task.node) if _is_compute(task) else None


def _auxiliary_kind(task: Task) -> str | None:
    return None if _is_compute(task) else task.kind.value


def _rows(
    pfs: Sequence[Run], bb: Sequence[Run], columns: Sequence[Metric], group: Group
) -> tuple[Row, ...]:
    """A row per name that ``group`` gives, in the order in which they first ran."""
    pfs_groups = [_grouped(run, group) for run in pfs]
    bb_groups = [_grouped(run, group) for run in bb]
    names = dict.fromkeys(name for side in pfs_groups + bb_groups for name in side)
    return tuple(
        Row(name, _cells(name, columns, pfs_groups, bb_groups)) for name in names
    )


def _grouped(run: Run, group: Group) -> dict[str, list[Task]]:
    groups: dict[str, list[Task]] = {}
    for task in run.tasks:
        name = group(task)
        if name is not None:
            groups.setdefault(name, []).append(task)
    return groups


def _cells(
    name: str,
    columns: Sequence[Metric],
    pfs: Sequence[Mapping[str, list[Task]]],
    bb: Sequence[Mapping[str, list[Task]]],
) -> dict[str, Pair]:
    return {
        column.key: Pair(
            stat(column.of(groups[name]) for groups in pfs if name in groups),
            stat(column.of(groups[name]) for groups in bb if name in groups),
        )
        for column in columns
    }


def _empty(columns: Sequence[Metric]) -> dict[str, Pair]:
    return {column.key: Pair(None, None) for column in columns}
