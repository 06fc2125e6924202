"""Many tasks that are cancelled at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from pegasus_bb.runtime.stager_client.protocol import VERSION
from pegasus_bb.stager.connection import Connection
from pegasus_bb.stager.held_tasks import TasksEnded
from pegasus_bb.stager.requests import Requests
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.site_config import Config
from tests.stager.in_loop import UID, submitted, until_ended, with_service


def test_other_clients_have_their_turns_while_many_tasks_are_cancelled(
    tmp_path: Path,
) -> None:
    async def cancel(service: Service) -> None:
        tasks = await submitted(service, 2500)
        service.cancel(tasks)
        ended = []
        while not ended or ended[-1] < len(tasks):
            ended.append(sum(task.has_ended for task in tasks))
            await asyncio.sleep(0)
        assert ended[:3] == [1000, 2000, 2500]
        await until_ended(service, tasks)
        assert {task.state for task in tasks} == {"cancelled"}

    with_service(tmp_path, cancel)


class Caller:
    """Who asks, as the requests see him."""

    uid = UID

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []

    def answer(self, _: Any, ok: dict[str, Any]) -> None:
        self.answers.append(ok)

    def keep(self, wait: TasksEnded) -> None: ...


def test_a_cancel_is_answered_once_no_task_ends_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many tasks take a while to end, and one hangs."""

    async def cancel(service: Service) -> None:
        looks: list[Callable[[], None]] = []
        loop = asyncio.get_running_loop()

        def later(_: float, look: Callable[[int], None], before: int) -> None:
            looks.append(partial(look, before))

        monkeypatch.setattr(loop, "call_later", later)
        tasks = await submitted(service, 3)
        config = Config(str(tmp_path), str(tmp_path), {}, is_site=True)
        requests, caller = Requests(config, service, lambda: None), Caller()
        with monkeypatch.context() as slow:
            slow.setattr(service, "cancel", lambda tasks: None)
            message = {"do": "cancel", "id": 1, "v": VERSION, "all": True}
            requests.handle(cast(Connection, caller), message, b"", is_control=False)
        for task in tasks[:2]:
            service.cancel([task])
            await until_ended(service, [task])
            looks.pop()()
            assert caller.answers == []
        looks.pop()()
        assert caller.answers == [{"cancelled": 2, "ending": 1}]
        service.cancel(tasks)
        await until_ended(service, tasks)
        assert len(caller.answers) == 1 and not looks

    with_service(tmp_path, cancel)
