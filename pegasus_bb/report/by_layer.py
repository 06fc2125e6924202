"""What Darshan's layers of calls saw on both sides: by transformation, and by file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pegasus_bb.model.run import Kind, Layer, Run, Task
from pegasus_bb.model.stat import stat
from pegasus_bb.report.layer_metrics import LAYER_METRICS
from pegasus_bb.report.layers import together
from pegasus_bb.report.stats import Pair

_Key = tuple[str, str, str]  # transformation, layer, file
_Seen = Mapping[_Key, Layer]


@dataclass(frozen=True, slots=True)
class LayerRow:
    """One layer on both sides."""

    name: str  # of the transformation
    layer: str  # POSIX, MPI-IO or STDIO
    file: str  # LFN, or path; empty: of all files together
    cells: Mapping[str, Pair]  # LAYER_METRICS' keys -> pair


def by_layer(pfs: Sequence[Run], bb: Sequence[Run]) -> tuple[LayerRow, ...]:
    """A row per transformation and layer.

    A run says nothing of one where a task of it has no log that counts.
    """
    return _rows(pfs, bb, _of_transformations)


def by_processes(pfs: Sequence[Run], bb: Sequence[Run]) -> tuple[LayerRow, ...]:
    """A row per transformation, layer and number of processes: runs of as many are
    repetitions."""
    return tuple(replace(row, file="") for row in _rows(pfs, bb, _of_processes))


def by_file(pfs: Sequence[Run], bb: Sequence[Run]) -> tuple[LayerRow, ...]:
    """A row per transformation, file and layer."""
    return _rows(pfs, bb, _of_files)


def longest(rows: Sequence[LayerRow], count: int) -> list[LayerRow]:
    """Those ``count`` whose calls took longest."""
    return sorted(rows, key=_seconds, reverse=True)[:count]


def _seconds(row: LayerRow) -> float:
    pair = row.cells["slowest_time"]
    return max(side.mean for side in (pair.pfs, pair.bb) if side is not None)


def _rows(
    pfs: Sequence[Run], bb: Sequence[Run], of: Callable[[Run], _Seen]
) -> tuple[LayerRow, ...]:
    sides = [[of(run) for run in side] for side in (pfs, bb)]
    keys = dict.fromkeys(key for side in sides for run in side for key in run)
    return tuple(LayerRow(*key, _cells(key, sides)) for key in keys)


def _cells(key: _Key, sides: Sequence[Sequence[_Seen]]) -> dict[str, Pair]:
    seen = [[run[key] for run in side if key in run] for side in sides]
    return {
        metric.key: Pair(*(stat(map(metric.of, layers)) for layers in seen))
        for metric in LAYER_METRICS
    }


def _of_transformations(run: Run) -> _Seen:
    groups: dict[str, list[Task]] = {}
    for task in _compute(run):
        groups.setdefault(task.transformation or task.node, []).append(task)
    return {
        (name, layer.name, ""): layer
        for name, tasks in groups.items()
        if all(task.calls for task in tasks)
        for layer in together(layer for task in tasks for layer in task.layers)
    }


def _of_processes(run: Run) -> _Seen:
    return {
        (name, layer, str(seen.processes)): seen
        for (name, layer, _), seen in _of_transformations(run).items()
    }


def _of_files(run: Run) -> _Seen:
    found: dict[tuple[str, str], list[Layer]] = {}
    for task in _compute(run):
        for file in task.files:
            key = (task.transformation or task.node, file.name)
            if file.layers:
                found.setdefault(key, []).extend(file.layers)
    return {
        (name, layer.name, file): layer
        for (name, file), layers in found.items()
        for layer in together(layers)
    }


def _compute(run: Run) -> Iterator[Task]:
    return (task for task in run.tasks if task.kind is Kind.COMPUTE)
