"""Numbers of a group of tasks; one meaning of I/O wait for a whole report."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Kind, Task
from pegasus_bb.report.metrics import IOWait, io_wait_of, metrics, off_cpu
from tests.report.made import a_run, a_task


def number(key: str, *tasks: Task, io_wait: IOWait = IOWait.OFF_CPU) -> float | None:
    (metric,) = (metric for metric in metrics(io_wait) if metric.key == key)
    return metric.of(tasks)


def test_times_and_bytes_are_added_up() -> None:
    tasks = a_task(duration=1.0, rchar=10, wchar=1), a_task(duration=3.0, rchar=5)
    assert number("jobs", *tasks) == 2
    assert number("run_time", *tasks) == 4.0
    assert number("mean_time", *tasks) == 2.0
    assert number("bytes_read", *tasks) == 15


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("bytes_read", "rchar"),
        ("bytes_written", "wchar"),
        ("block_read", "rbytes"),
        ("block_written", "wbytes"),
        ("io_wait", "utime"),
        ("user_system", "stime"),
    ],
)
def test_one_task_that_nobody_measured_makes_the_sum_unknown(
    key: str, field: str
) -> None:
    assert number(key, a_task(), a_task()) is not None
    assert number(key, a_task(), a_task(**{field: None})) is None


def test_user_against_system_time() -> None:
    assert number("user_system", a_task(utime=3.0, stime=1.0)) == 3.0
    assert number("user_system", a_task(utime=3.0, stime=0.0)) is None


def test_off_cpu_time_is_what_is_left_of_the_run_time() -> None:
    assert off_cpu(a_task(duration=2.0, utime=0.5, stime=0.5)) == 1.0


def test_clocks_that_disagree_a_little_give_no_wait() -> None:
    assert off_cpu(a_task(duration=1.0, utime=1.0, stime=0.015)) == 0.0


def test_two_busy_processors_say_nothing_of_waiting() -> None:
    assert off_cpu(a_task(duration=1.0, utime=1.5, stime=0.2)) is None


def test_the_kernels_count_is_used_where_every_task_has_it() -> None:
    pfs, bb = a_run(a_task(iowait=0.7)), a_run(a_task(iowait=0.0))
    assert io_wait_of([pfs, bb]) is IOWait.MEASURED
    assert number("io_wait", *pfs.tasks, io_wait=IOWait.MEASURED) == 0.7


def test_one_task_without_the_count_changes_the_meaning_for_all() -> None:
    runs = [a_run(a_task(iowait=0.7)), a_run(a_task(iowait=None))]
    assert io_wait_of(runs) is IOWait.OFF_CPU
    assert number("io_wait", a_task(iowait=0.7)) == pytest.approx(0.5)


def test_auxiliary_jobs_do_not_decide_the_meaning() -> None:
    aux = a_task("pegasus::transfer", kind=Kind.STAGE_IN, iowait=None)
    assert io_wait_of([a_run(a_task(iowait=0.1), aux)]) is IOWait.MEASURED
    assert io_wait_of([a_run(aux)]) is IOWait.OFF_CPU
