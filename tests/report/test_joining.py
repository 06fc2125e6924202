"""Kickstart records and Darshan logs of the same tasks: each byte counts once."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.model.run import Calls, Problem, ProcessIdentity, Task
from pegasus_bb.report.darshan_counters import Log
from pegasus_bb.report.joining import join
from tests.report.sample_runs import a_task

MIX = "/usr/bin/python3 /wf/bin/mix.py a b"


def a_log(**fields: Any) -> Log:
    values: dict[str, Any] = {
        "file": "me_mix_id7-7_1.darshan",
        "start": 0.1,
        "seconds": 0.8,
        "pids": (7,),
        "command": MIX,
        "modules": {},
        "calls": Calls(30, 20, 0.5),
        "files": (),
    }
    return Log(**{**values, **fields})


def mix(command: str = "/wf/bin/mix.py a b", pid: int = 7, **fields: Any) -> Task:
    """A task whose process has the number 7 and runs in /run."""
    fields.setdefault("process", ProcessIdentity(pid, "/run", command))
    return a_task("mix", **{"rchar": 100, "wchar": 50, **fields})


def joined(tasks: list[Task], *logs: Log) -> list[Task]:
    return [entry for entry in join(tasks, logs) if isinstance(entry, Task)]


def test_the_kernels_counts_stay_and_the_logs_are_taken_without_any() -> None:
    found = [joined([mix(rchar=n, wchar=n)], a_log())[0] for n in (100, None)]
    assert [(task.rchar, task.wchar) for task in found] == [(100, 100), (30, 20)]
    assert [task.calls for task in found] == [Calls(30, 20, 0.5)] * 2


@pytest.mark.parametrize(
    ("folder", "start"),
    [
        ("darshan/c/2026/11/24", 0.1),  # no such node
        ("darshan/b/2026/11/24", 99.0),  # of an earlier attempt
        ("darshan/b", 0.1),
        ("logs/b/2026/11/24", 0.1),
    ],
)
def test_another_log_is_of_no_task(folder: str, start: float) -> None:
    log = a_log(file=f"{folder}/x.darshan", start=start, pids=(9,), command="sed")
    entries = list(join([mix(node="b", pid=1)], [log]))
    assert sum(isinstance(entry, Problem) for entry in entries) == 1


def test_calls_are_added_up_where_every_log_counted_them() -> None:
    one = Calls(1, 2, 0.5, data=10, metadata=4, meta_time=0.25)
    logs = [a_log(calls=one), a_log(pids=(8,), calls=one)]
    (task,) = joined([mix()], *logs)
    assert task.calls == Calls(2, 4, 1.0, data=20, metadata=8, meta_time=0.5)
    (task,) = joined([mix()], *logs, a_log(pids=(9,)))
    assert task.calls == Calls(32, 24, 1.5)


@pytest.mark.parametrize(("rchar", "wchar"), [(17 << 20, 100), (100, 2 << 20)])
def test_a_log_that_misses_what_the_kernel_counted_has_no_time(
    rchar: int, wchar: int
) -> None:
    problem, task = join([mix(rchar=rchar, wchar=wchar)], [a_log()])
    assert isinstance(problem, Problem)
    assert problem.why.startswith("Darshan saw less than half of what the kernel")
    assert isinstance(task, Task)
    assert (task.calls, task.rchar, task.wchar) == (None, rchar, wchar)
