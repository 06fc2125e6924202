"""The rows of a comparison: a group of tasks, or Darshan's counters, on both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

from pegasus_bb.model.mean_and_error import Pair, stat
from pegasus_bb.model.run import Kind, Layer, Run, Task
from pegasus_bb.report.columns import LAYER_METRICS, Metric
from pegasus_bb.report.layers import merge_layers
from pegasus_bb.report.report_document import SIDES, Row, Sides
from pegasus_bb.report.run_clock import run_time

_GAINS = {"read_gain": "read_bandwidth", "write_gain": "write_bandwidth"}
T = TypeVar("T")


class _Key(NamedTuple):
    """What makes a group of one run the same as one of another."""

    name: str
    job: str = ""
    layer: str = ""
    file: str = ""
    processes: int = 0


Groups = dict[_Key, list[Task]]


def rows(
    sides: Sides, group: Callable[[Run], Mapping[_Key, T]], metrics: Sequence[Metric[T]]
) -> tuple[Row, ...]:
    """Return a row for each group of the runs on ``sides``."""
    grouped = [[group(run) for run in side] for side in sides]
    keys = dict.fromkeys(key for side in grouped for run in side for key in run)
    return tuple(
        Row(
            key.name,
            Cells(metrics, partial(_pair, key, grouped)),
            key.job,
            key.layer,
            key.file,
        )
        for key in keys
    )


def width_rows(sides: Sides) -> tuple[Row, ...]:
    """Return a row per transformation, layer and number of processes, if a layer has
    several; runs with the same number are repetitions."""
    columns = [m for m in LAYER_METRICS if m.key in ("processes", *_GAINS.values())]
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows(sides, _by_layer_and_width, columns):
        groups.setdefault((row.name, row.layer), []).append(row)
    return tuple(
        replace(row, gains={key: _gain(row, same, of) for key, of in _GAINS.items()})
        for same in groups.values()
        if len(same) > 1
        for row in sorted(same, key=_processes)
    )


class Cells(Mapping[str, Pair]):
    """The pairs of a row by the key of their metric. Each is made when it is asked for:
    of many thousand jobs a text shows a few."""

    def __init__(
        self, metrics: Sequence[Metric[T]], pair: Callable[[Metric[T]], Pair]
    ) -> None:
        self._metrics, self._pair = metrics, pair

    def __getitem__(self, key: str) -> Pair:
        for metric in self._metrics:
            if metric.key == key:
                return self._pair(metric)
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (metric.key for metric in self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


def _pair(
    key: _Key, sides: Sequence[Sequence[Mapping[_Key, T]]], metric: Metric[T]
) -> Pair:
    return Pair(
        *(stat(metric.of(run[key]) for run in side if key in run) for side in sides)
    )


def by_transformation(run: Run) -> Groups:
    return _grouped(_compute(run), lambda task: (task.name, ""))


def all_together(run: Run) -> Groups:
    return _grouped(_compute(run), lambda _: ("all", ""))


def by_job(run: Run) -> Groups:
    return _grouped(_compute(run), lambda task: (task.name, task.job or task.node))


def by_kind(run: Run) -> Groups:
    """Group the auxiliary jobs."""
    others = (task for task in _in_its_time(run) if task.kind is not Kind.COMPUTE)
    return _grouped(others, lambda task: (task.kind.value, ""))


def _compute(run: Run) -> Iterator[Task]:
    return (task for task in _in_its_time(run) if task.kind is Kind.COMPUTE)


def _in_its_time(run: Run) -> Iterable[Task]:
    """Return its tasks; without the time in which a resumed run lay still."""
    if len(run.stretches) < 2:
        return run.tasks
    time = run_time(run)
    return (task._replace(start=time.at(task.start)) for task in run.tasks)


def _grouped(tasks: Iterable[Task], key: Callable[[Task], tuple[str, str]]) -> Groups:
    """Group by name and job."""
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        groups.setdefault(key(task), []).append(task)
    return {_Key(*pair): found for pair, found in groups.items()}


def by_layer(run: Run) -> dict[_Key, Layer]:
    """Group by transformation and layer. A transformation of which a task has no log
    that counts is left out."""
    if not any(task.calls for task in run.tasks):  # the usual case, and soon told
        return {}
    return {
        key._replace(layer=layer.name): layer
        for key, tasks in by_transformation(run).items()
        if all(task.calls for task in tasks)
        for layer in merge_layers(layer for task in tasks for layer in task.layers)
    }


def _by_layer_and_width(run: Run) -> dict[_Key, Layer]:
    layers = by_layer(run).items()
    return {key._replace(processes=layer.processes): layer for key, layer in layers}


def by_file(run: Run) -> dict[_Key, Layer]:
    """Group by transformation, file and layer."""
    files: dict[_Key, list[Layer]] = {}
    for task in _compute(run):
        for file in task.files:
            if file.layers:
                key = _Key(task.name, file=file.name)
                files.setdefault(key, []).extend(file.layers)
    return {
        key._replace(layer=layer.name): layer
        for key, layers in files.items()
        for layer in merge_layers(layers)
    }


def _processes(row: Row) -> float:
    return row.cells["processes"].larger


def _gain(row: Row, others: Sequence[Row], rate: str) -> dict[str, float | None]:
    """Return the bandwidth of ``row``, relative to that with the fewest processes of
    the same side."""
    gains: dict[str, float | None] = {}
    for side in SIDES:
        stats = {_processes(o): getattr(o.cells[rate], side) for o in others}
        rates = {width: stat.mean for width, stat in stats.items() if stat}
        here = rates.get(_processes(row))
        gains[side] = here / rates[min(rates)] if here else None
    return gains
