"""Many tasks that are cancelled at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pegasus_bb.stager.service import Service
from tests.stager.in_loop import submitted, until_ended, with_service


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
