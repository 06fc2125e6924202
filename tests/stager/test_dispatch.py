"""What workers say is charged to the share of their user: without workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.task import Origin, StagerTask
from pegasus_bb.stager.dispatch import Dispatch
from pegasus_bb.stager.site_config import Config
from pegasus_bb.stager.worker_pool import WorkerProcess


class Said(WorkerProcess):
    """A worker that has no process."""

    def __init__(self, task: StagerTask) -> None:
        self.uid, self.tasks = task.uid, {task.id: task}
        self.heard: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        self.heard.append(message)


def task(number: int, uid: int, **more: Any) -> StagerTask:
    spec = {"kind": "copy", "source": "a://b", **more}
    return StagerTask(number, Origin(uid, 0.0, number), spec)


@pytest.mark.parametrize(
    "said",
    [
        [{"ended": [1, "done", MIB, ""]}],
        [{"moved": {"1": MIB}}, {"ended": [1, "failed", 0, "it changed"]}],
        [{"moved": {"1": MIB}}, {"ended": [1, "cancelled", 0, ""]}],
        [{"moved": {"1": MIB}}],
    ],
)
def test_bytes_of_a_task_that_runs_or_failed_are_charged(
    tmp_path: Path, said: list[dict[str, Any]]
) -> None:
    config = Config(str(tmp_path), str(tmp_path), {})
    dispatch = Dispatch(config, lambda *_: None, lambda *_: None)
    worker = Said(task(1, uid=1))
    for message in said:
        dispatch._handle(worker, message)
    for number, uid in ((2, 1), (3, 2), (4, 1)):
        dispatch.queue.add(task(number, uid))
    found = dispatch.queue.take(0.0)
    assert found is not None and found.uid == 2
