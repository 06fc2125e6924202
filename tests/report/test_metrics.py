"""Numbers of a group of tasks; one meaning of I/O wait for a whole report."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Task
from pegasus_bb.report.metrics import IOWait, metrics
from tests.report.sample_runs import a_task


def number(key: str, *tasks: Task, io_wait: IOWait = IOWait.OFF_CPU) -> float | None:
    (metric,) = (metric for metric in metrics(io_wait) if metric.key == key)
    return metric.of(tasks)


ONE = a_task(duration=1.0, rchar=10, wchar=1)
OTHER = a_task(duration=3.0, rchar=5)


@pytest.mark.parametrize(
    ("key", "tasks", "expected"),
    [
        ("jobs", [ONE, OTHER], 2),
        ("run_time", [ONE, OTHER], 4.0),
        ("bytes_read", [ONE, OTHER], 15),
        ("user_system", [a_task(utime=3.0, stime=1.0)], 3.0),
        ("user_system", [a_task(utime=3.0, stime=0.0)], None),
        ("io_wait", [a_task(duration=2.0, utime=0.5, stime=0.5)], 1.0),
        # Clocks disagree a little; two busy processors say nothing of waiting.
        ("io_wait", [a_task(duration=1.0, utime=1.0, stime=0.015)], 0.0),
        ("io_wait", [a_task(duration=1.0, utime=1.5, stime=0.2)], None),
    ],
)
def test_a_number_of_several_tasks(
    key: str, tasks: list[Task], expected: float | None
) -> None:
    assert number(key, *tasks) == expected


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
