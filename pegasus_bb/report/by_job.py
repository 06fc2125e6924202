"""One job of the users' next to itself on the other side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pegasus_bb.model.run import Kind, Run, Task
from pegasus_bb.model.stat import Stat, stat
from pegasus_bb.report.metrics import Metric
from pegasus_bb.report.stats import Pair

# Of a single job the others say the same, or nothing.
SHOWN = (
    *("run_time", "queue", "ready_wait"),
    *("bytes_read", "bytes_written", "bytes_moved"),
    *("io_wait", "io_time", "user_time", "system_time", "user_system"),
)
_Key = tuple[str, str]  # transformation, job


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job on both sides."""

    name: str  # its transformation
    job: str  # its id in the abstract workflow, else its node
    cells: Mapping[str, Pair]  # SHOWN -> pair


def by_job(
    pfs: Sequence[Run], bb: Sequence[Run], metrics: Sequence[Metric]
) -> tuple[JobRow, ...]:
    """A row per job, in the order in which they first ran."""
    columns = [metric for metric in metrics if metric.key in SHOWN]
    sides = [[_tasks(run) for run in side] for side in (pfs, bb)]
    keys = dict.fromkeys(key for side in sides for run in side for key in run)
    return tuple(
        JobRow(*key, {c.key: _pair(c, key, sides) for c in columns}) for key in keys
    )


def differing(rows: Sequence[JobRow], count: int) -> list[JobRow]:
    """Those ``count`` whose times differ most between the sides."""
    return sorted(rows, key=_difference, reverse=True)[:count]


def _difference(row: JobRow) -> float:
    pair = row.cells["run_time"]
    return abs(pair.pfs.mean - pair.bb.mean) if pair.pfs and pair.bb else -1.0


def _tasks(run: Run) -> dict[_Key, list[Task]]:
    jobs: dict[_Key, list[Task]] = {}
    for task in run.tasks:
        if task.kind is Kind.COMPUTE:
            name = task.transformation or task.node
            jobs.setdefault((name, task.job or task.node), []).append(task)
    return jobs


def _pair(
    metric: Metric, key: _Key, sides: Sequence[Sequence[Mapping[_Key, list[Task]]]]
) -> Pair:
    return Pair(*(_side(metric, key, runs) for runs in sides))


def _side(
    metric: Metric, key: _Key, runs: Sequence[Mapping[_Key, list[Task]]]
) -> Stat | None:
    return stat(metric.of(run[key]) for run in runs if key in run)
