"""Which tasks a service holds in memory, and how many are cancelled at once."""

from __future__ import annotations

import asyncio
import errno
import gc
import time
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import pytest

from pegasus_bb.runtime.stager_client.protocol import VERSION, Refused
from pegasus_bb.runtime.stager_client.task import Origin, StagerTask
from pegasus_bb.stager import held_tasks as module
from pegasus_bb.stager.connection import ClientRequest, Connection
from pegasus_bb.stager.held_tasks import Retention
from pegasus_bb.stager.requests import Requests
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.site_config import Config
from tests.stager.in_loop import SPEC, UID, submitted, with_service


def test_requests_of_which_one_task_waits_hold_no_memory_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST", 10)
    monkeypatch.setattr(module, "_NEW", 0.0)
    monkeypatch.setattr(module, "_KEPT", 0)

    async def use(service: Service) -> None:
        waiting = []
        for _ in range(2):
            tasks = await submitted(service, 5)
            waiting.append(tasks[0])
            service.cancel(tasks[1:])
        service.tidy()
        assert len(service.tasks) == 10
        with pytest.raises(Refused, match="you have 10 tasks") as refused:
            await submitted(service, 1)
        assert refused.value.code == "busy"
        service.cancel(waiting[:1])
        service.tidy()
        assert len(await submitted(service, 5)) == 5

    with_service(tmp_path, use)


def test_cancelled_tasks_behind_one_that_waits_are_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_NEW", -1.0)
    monkeypatch.setattr(module, "_KEPT", 0)

    def held() -> int:
        return sum(type(each) is StagerTask for each in gc.get_objects())

    async def use(service: Service) -> None:
        gc.collect()
        before = held()
        for more in ({}, {"rate": 1.0}, {"deadline": 9e9}):
            await submitted(service, 1, **more)
            for _ in range(3):
                tasks = await submitted(service, 50, **more)
                service.cancel(tasks)
                await service.ended(tasks)
                del tasks
            service.tidy()
        gc.collect()
        assert held() - before < 100

    with_service(tmp_path, use)


def test_tasks_that_the_journal_refused_hold_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST", 10)

    def fail(*_: Any) -> OSError:
        return OSError(errno.ENOSPC, "No space left on device")

    async def use(service: Service) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(service.store, "_written", fail)
            for _ in range(3):
                with pytest.raises(Refused, match="No space left"):
                    await submitted(service, 10)
        assert service.is_idle
        assert len(await submitted(service, 10)) == 10 and not service.is_idle

    with_service(tmp_path, use)


def left(count: int, seconds: float) -> dict[int, StagerTask]:
    """Three to a request. They ended so long ago, later requests a second later."""
    tasks = {n: StagerTask(n, Origin(1, 0.0, n - n % 3, 3), SPEC) for n in range(count)}
    for number, task in tasks.items():
        task.state, task.ended_at = "done", time.time() - seconds + number // 3
    return tasks


def test_ends_are_kept_while_a_task_of_the_request_has_not_ended() -> None:
    """Others may end thousands of tasks meanwhile."""
    tasks = left(6, seconds=1e6)
    forgotten = list[Origin]()
    tasks[2].state = "running"
    kept = Retention(tasks, forgotten.append)
    assert [origin.first for origin in forgotten] == [3]
    assert sorted(tasks) == [0, 1, 2] and not kept.is_idle
    tasks[2].state = "done"
    kept.end(tasks[2])
    kept.forget_old()
    assert sorted(tasks) == [0, 1, 2] and kept.is_idle


def test_the_latest_of_many_ends_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT", 4)
    tasks = left(12, seconds=100.0)
    Retention(tasks, lambda _: None)
    assert sorted(tasks) == [9, 10, 11]
    tasks = left(12, seconds=10.0)
    Retention(tasks, lambda _: None)
    assert len(tasks) == 12


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
        await service.ended(tasks)
        assert {task.state for task in tasks} == {"cancelled"}

    with_service(tmp_path, cancel)


def test_a_cancel_is_answered_once_no_task_ends_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many tasks take a while to end, and one hangs."""

    async def cancel(service: Service) -> None:
        looks: asyncio.Queue[None] = asyncio.Queue()

        async def look(ended: Any, _: float) -> None:
            ended.close()
            await looks.get()
            raise asyncio.TimeoutError

        tasks = await submitted(service, 3)
        config = Config(str(tmp_path), str(tmp_path), {}, is_site=True)
        asked = {"do": "cancel", "id": 1, "v": VERSION, "all": True}
        request = ClientRequest(cast(Connection, Mock(uid=UID)), asked, b"")
        monkeypatch.setattr(asyncio, "wait_for", look)
        with monkeypatch.context() as slow:
            slow.setattr(service, "cancel", lambda tasks: None)
            requests = Requests(config, service, Mock())
            answered: Any = requests.handle(request, is_control=False)
            answer = asyncio.ensure_future(answered)
            await asyncio.sleep(0)
        for task in tasks[:2]:
            service.cancel([task])
            await service.ended([task])
            looks.put_nowait(None)
            await asyncio.sleep(0.01)
            assert not answer.done()
        looks.put_nowait(None)
        assert await answer == {"cancelled": 2, "ending": 1}

    with_service(tmp_path, cancel)
