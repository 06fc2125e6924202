"""Runs and records made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.run import Kind, Run, Task

HERE = Path(__file__).parent
RECORDED = HERE.parent / "recorded" / "kickstart"

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


@pytest.fixture
def xml_text() -> Callable[..., str]:
    """A record of the form that Pegasus 4 writes (iv-2.3), made by hand."""
    text = (HERE / "kickstart-4.xml").read_text()

    def make(name: str = "merge", said: str = "") -> str:
        return text.format(name=name, said=said)

    return make


@pytest.fixture
def recorded() -> Path:
    """Where the recorded records are."""
    return RECORDED


@pytest.fixture
def record_text() -> Callable[..., str]:
    """The text of a record, in which a few values can be chosen."""

    def make(
        transformation: str = "cat", job: str = "ID1", duration: str = "1.5"
    ) -> str:
        return RECORD.format(transformation=transformation, job=job, duration=duration)

    return make


@pytest.fixture
def a_task() -> Callable[..., Task]:
    """A task that ran a second, half of it on a CPU; any field can be chosen."""

    def make(transformation: str = "cat", **fields: Any) -> Task:
        node = fields.pop("node", f"{transformation}_ID1")
        values: dict[str, Any] = {
            **{"transformation": transformation, "job": "ID1", "node": node},
            **{"kind": Kind.COMPUTE, "site": "cluster", "host": "node1"},
            **{"start": 0.0, "duration": 1.0, "exit_code": 0},
            **{"utime": 0.4, "stime": 0.1, "rchar": 1 << 20, "wchar": 2 << 20},
            **{"rbytes": 0, "wbytes": 4096},
        }
        return Task(**{**values, **fields})

    return make


@pytest.fixture
def a_run() -> Callable[..., Run]:
    """A run of those tasks; any field can be chosen."""

    def make(*tasks: Task, **fields: Any) -> Run:
        values: dict[str, Any] = {
            **{"label": "demo", "makespan": 10.25, "makespan_from": "jobstate.log"},
            **{"submit_dir": "demo/run"},
        }
        return Run(tasks=tasks, **{**values, **fields})

    return make
