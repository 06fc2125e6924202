"""Numbers of a group of tasks; one meaning of I/O wait for a whole report."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Kind, Task
from pegasus_bb.report.columns import STAGING, IOWait, ReportedRun, metrics
from pegasus_bb.report.run_clock import run_time
from tests.report.sample_runs import a_run, a_task


def number(key: str, *tasks: Task, io_wait: IOWait = IOWait.OFF_CPU) -> float | None:
    (metric,) = (metric for metric in metrics(io_wait, ()) if metric.key == key)
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


@pytest.mark.parametrize(("own", "rate"), [(0, 20.0), (2, None)])
def test_jobs_that_stage_out_themselves_leave_no_rate_of_stage_out_jobs(
    own: int, rate: float | None
) -> None:
    out = a_task("stage_out", kind=Kind.STAGE_OUT, duration=2.0)
    run = a_run(out, saved=40, job_reservations=own)
    (metric,) = (metric for metric in STAGING if metric.key == "out_rate")
    reported = ReportedRun(run, {}, run_time(run), None)
    assert metric.of(reported) == rate
