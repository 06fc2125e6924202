"""Runs on the parallel file system against runs on the burst buffer.

Several runs of a side are repetitions. A ratio is PFS to BB: above 1 the burst buffer
took less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pegasus_bb.errors import UsageError
from pegasus_bb.model.run import Kind, Run, Task
from pegasus_bb.model.stat import stat
from pegasus_bb.report.metrics import IOWait, Metric, io_wait_of, metrics
from pegasus_bb.report.notes import notes_on
from pegasus_bb.report.stats import Pair, total

Group = Callable[[Task], str | None]  # the name of the row that a task belongs to


@dataclass(frozen=True, slots=True)
class Row:
    """One transformation, or one kind of auxiliary job, on both sides."""

    name: str
    cells: Mapping[str, Pair]  # Metric.key -> pair


@dataclass(frozen=True, slots=True)
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
    notes: tuple[str, ...]  # what a reader must know to judge the numbers


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
        workflow={
            key: Pair(stat(of(run) for run in pfs), stat(of(run) for run in bb))
            for key, of in WORKFLOW.items()
        },
        notes=notes_on(pfs, bb, io_wait),
    )


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
