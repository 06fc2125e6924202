"""The rows of a comparison: a group of tasks, or Darshan's counters, on both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from pegasus_bb.model.run import Kind, Layer, Run, Task
from pegasus_bb.model.stat import Pair, stat
from pegasus_bb.report.layers import LAYER_METRICS, merge_layers
from pegasus_bb.report.metrics import Metric, TaskMetric
from pegasus_bb.report.report_document import Gain, Row

# The columns of single jobs: the others say the same of them, or nothing.
JOB_COLUMNS = (
    "run_time",
    "queue",
    "ready_wait",
    "bytes_read",
    "bytes_written",
    "bytes_moved",
    "io_wait",
    "io_time",
    "user_time",
    "system_time",
    "user_system",
)
_GAINS = {"read_gain": "read_bandwidth", "write_gain": "write_bandwidth"}
T = TypeVar("T")


class _Key(NamedTuple):
    """What makes a group of one run the same as one of another."""

    name: str
    job: str = ""
    layer: str = ""
    file: str = ""
    processes: int = 0


Tasks = dict[_Key, list[Task]]


class Sides(NamedTuple):
    pfs: Sequence[Run]
    bb: Sequence[Run]


def transformation_rows(sides: Sides, metrics: Sequence[TaskMetric]) -> tuple[Row, ...]:
    return _rows(sides, lambda run: _grouped(run, _transformation), metrics)


def all_compute_row(sides: Sides, metrics: Sequence[TaskMetric]) -> Row:
    rows = _rows(sides, lambda run: _grouped(run, lambda _: _Key("all")), metrics)
    return rows[0] if rows else Row("all", {m.key: Pair(None, None) for m in metrics})


def auxiliary_rows(sides: Sides, metrics: Sequence[TaskMetric]) -> tuple[Row, ...]:
    return _rows(sides, _auxiliary, metrics)


def job_rows(sides: Sides, metrics: Sequence[TaskMetric]) -> tuple[Row, ...]:
    columns = [metric for metric in metrics if metric.key in JOB_COLUMNS]
    return _rows(sides, lambda run: _grouped(run, _job), columns)


def layer_rows(sides: Sides) -> tuple[Row, ...]:
    """A row per transformation and layer.

    A run adds nothing to one of which a task has no log that counts.
    """
    return _rows(sides, _layers, LAYER_METRICS)


def file_rows(sides: Sides) -> tuple[Row, ...]:
    return _rows(sides, _file_layers, LAYER_METRICS)


def width_rows(sides: Sides) -> tuple[Row, ...]:
    """A row per transformation, layer and number of processes, where a layer has
    several; runs with the same number are repetitions."""
    columns = [m for m in LAYER_METRICS if m.key in ("processes", *_GAINS.values())]
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in _rows(sides, _layers_by_width, columns):
        groups.setdefault((row.name, row.layer), []).append(row)
    return tuple(
        replace(
            row, gains={key: _gain(row, rows, rate) for key, rate in _GAINS.items()}
        )
        for rows in groups.values()
        if len(rows) > 1
        for row in sorted(rows, key=_processes)
    )


def _rows(
    sides: Sides, group: Callable[[Run], Mapping[_Key, T]], metrics: Sequence[Metric[T]]
) -> tuple[Row, ...]:
    grouped = [[group(run) for run in side] for side in sides]
    keys = dict.fromkeys(key for side in grouped for run in side for key in run)
    return tuple(
        Row(
            key.name,
            {m.key: _pair(m, key, grouped) for m in metrics},
            key.job,
            key.layer,
            key.file,
        )
        for key in keys
    )


def _pair(
    metric: Metric[T], key: _Key, sides: Sequence[Sequence[Mapping[_Key, T]]]
) -> Pair:
    return Pair(
        *(stat(metric.of(run[key]) for run in side if key in run) for side in sides)
    )


def _compute(run: Run) -> Iterator[Task]:
    return (task for task in run.tasks if task.kind is Kind.COMPUTE)


def _grouped(run: Run, key: Callable[[Task], _Key]) -> Tasks:
    groups: Tasks = {}
    for task in _compute(run):
        groups.setdefault(key(task), []).append(task)
    return groups


def _transformation(task: Task) -> _Key:
    return _Key(task.name)


def _job(task: Task) -> _Key:
    return _Key(task.name, task.job or task.node)


def _auxiliary(run: Run) -> Tasks:
    groups: Tasks = {}
    for task in run.tasks:
        if task.kind is not Kind.COMPUTE:
            groups.setdefault(_Key(task.kind.value), []).append(task)
    return groups


def _layers(run: Run) -> dict[_Key, Layer]:
    return {
        _Key(key.name, layer=layer.name): layer
        for key, tasks in _grouped(run, _transformation).items()
        if all(task.calls for task in tasks)
        for layer in merge_layers(layer for task in tasks for layer in task.layers)
    }


def _layers_by_width(run: Run) -> dict[_Key, Layer]:
    layers = _layers(run).items()
    return {key._replace(processes=layer.processes): layer for key, layer in layers}


def _file_layers(run: Run) -> dict[_Key, Layer]:
    files: dict[_Key, list[Layer]] = {}
    for task in _compute(run):
        for file in task.files:
            if file.layers:
                key = _transformation(task)._replace(file=file.name)
                files.setdefault(key, []).extend(file.layers)
    return {
        key._replace(layer=layer.name): layer
        for key, layers in files.items()
        for layer in merge_layers(layers)
    }


def _processes(row: Row) -> float:
    pair = row.cells["processes"]
    return next(side.mean for side in (pair.pfs, pair.bb) if side is not None)


def _gain(row: Row, rows: Sequence[Row], rate: str) -> Gain:
    pairs = {_processes(each): each.cells[rate] for each in rows}
    pfs = {width: pair.pfs.mean for width, pair in pairs.items() if pair.pfs}
    bb = {width: pair.bb.mean for width, pair in pairs.items() if pair.bb}
    return Gain(_to_fewest(pfs, row), _to_fewest(bb, row))


def _to_fewest(rates: Mapping[float, float], row: Row) -> float | None:
    """The bandwidth of ``row`` relative to that with the fewest processes."""
    here = rates.get(_processes(row))
    return here / rates[min(rates)] if here else None
