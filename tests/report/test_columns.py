"""Numbers of a group of tasks; one meaning of I/O wait for a whole report."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Task
from pegasus_bb.report.columns import IOWait, metrics
from tests.report.sample_runs import a_task


def number(key: str, *tasks: Task, io_wait: IOWait = IOWait.OFF_CPU) -> float | None:
    (metric,) = (metric for metric in metrics(io_wait) if metric.key == key)
    return metric.of(tasks)


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("bytes_read", "rchar"),
        ("bytes_written", "wchar"),
        ("io_wait", "utime"),
        ("user_system", "stime"),
    ],
)
def test_one_task_without_a_measurement_makes_the_sum_unknown(
    key: str, field: str
) -> None:
    assert number(key, a_task(), a_task()) is not None
    assert number(key, a_task(), a_task(**{field: None})) is None
