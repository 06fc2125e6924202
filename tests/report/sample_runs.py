"""Runs and records made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from pegasus_bb.model.run import Kind, Problem, Run, Task
from pegasus_bb.report.run_folder import read_run

HERE = Path(__file__).parent
RECORDED = HERE.parent / "recorded" / "kickstart"
LOGGED = HERE.parent / "recorded" / "darshan"


@cache
def logged_run(side: str) -> Run:
    """Read a recorded run with logs of Darshan, once: that takes a second."""
    return read_run(LOGGED / side)


RECORD = """\
- invocation: True
  version: 3.0
  start: 2026-11-20T18:54:54.000+00:00
  duration: {duration}
  transformation: "{transformation}"
  derivation: "{job}"
  resource: "cluster"
  hostname: "node1"
  mainjob:
    start: 2026-11-20T18:54:54.000+00:00
    duration: {duration}
    pid: 42
    usage:
      utime: 0.250
      stime: 0.125
      maxrss: 2048
      inblock: 2
      outblock: 4
    status:
      raw: 0
      regular_exitcode: 0
    procs:
"""


def record_text(
    transformation: str = "cat", job: str = "ID1", duration: str = "1.5"
) -> str:
    """A record of Kickstart 3.0, without the rows of its processes."""
    return RECORD.format(transformation=transformation, job=job, duration=duration)


def xml_text(name: str = "merge", said: str = "") -> str:
    """A record that Pegasus 4 writes (iv-2.3), whose task printed ``said``."""
    return (HERE / "kickstart-4.xml").read_text().format(name=name, said=said)


def a_task(transformation: str = "cat", **fields: Any) -> Task:
    """A task that ran a second, half of it on a CPU; any field can be chosen."""
    values: dict[str, Any] = {
        "transformation": transformation,
        "job": "ID1",
        "kind": Kind.COMPUTE,
        "node": f"{transformation}_ID1",
        "site": "cluster",
        "host": "node1",
        "start": 0.0,
        "duration": 1.0,
        "exit_code": 0,
        "utime": 0.4,
        "stime": 0.1,
        "rchar": 1 << 20,
        "wchar": 2 << 20,
        "rbytes": 0,
        "wbytes": 4096,
    }
    return Task(**{**values, **fields})


def a_run(*tasks: Task, **fields: Any) -> Run:
    """A run of those tasks; any field can be chosen."""
    values: dict[str, Any] = {
        "label": "demo",
        "makespan": 10.25,
        "makespan_from": "jobstate.log",
        "submit_dir": "demo/run",
    }
    return Run(tasks=tasks, **{**values, **fields})


def only_task(entries: Iterable[Task | Problem]) -> Task:
    (task,) = entries
    assert isinstance(task, Task), task
    return task


def only_problem(entries: Iterable[Task | Problem]) -> Problem:
    (problem,) = entries
    assert isinstance(problem, Problem), problem
    return problem
