"""Answers that list tasks. A long one is made in pieces, so that no other client has
to wait for it: one at a time, and of one user one after the other."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from pegasus_bb.runtime.stager_client.task import ENDS, StagerTask
from pegasus_bb.stager.connection import Connection
from pegasus_bb.stager.service import Service

_PIECE = 500  # tasks: some milliseconds
_SHORT = 2_000  # tasks in an answer that is made at once
_PATIENCE = 60.0  # seconds in which a client takes a long answer; else it is left


class Answers:
    """Of one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._one = asyncio.Lock()
        self._one_of: dict[int, asyncio.Lock] = {}  # by user
        self._making: set[asyncio.Future[None]] = set()

    def send_tasks(
        self,
        connection: Connection,
        number: Any,
        tasks: list[StagerTask],
        eta: bool = False,
    ) -> None:
        """Answer the request ``number`` with ``tasks`` as they are then."""
        known = len(self._service.tasks) if eta else 0
        if max(len(tasks), known) <= _SHORT:
            left = self._service.dispatch.forecast().seconds_left() if eta else None
            connection.answer(number, {"tasks": _shown(tasks, left)})
            return
        making = asyncio.ensure_future(self._make(connection, number, tasks, eta))
        self._making.add(making)
        making.add_done_callback(self._making.discard)

    async def _make(
        self, connection: Connection, number: Any, tasks: list[StagerTask], eta: bool
    ) -> None:
        own = self._one_of.setdefault(connection.uid, asyncio.Lock())
        async with own:
            async with self._one:
                if connection.is_open:
                    connection.send(await self._line(number, tasks, eta))
            try:
                await asyncio.wait_for(connection.has_written(), _PATIENCE)
            except asyncio.TimeoutError:
                connection.close()

    async def _line(self, number: Any, tasks: list[StagerTask], eta: bool) -> bytes:
        left = None
        if eta:
            forecast = self._service.dispatch.forecast()
            loop = asyncio.get_event_loop()
            left = await loop.run_in_executor(None, forecast.seconds_left)
        pieces = []
        for first in range(0, len(tasks), _PIECE):
            shown = _shown(tasks[first : first + _PIECE], left)
            pieces.append(json.dumps(shown, separators=(",", ":"))[1:-1])
            await asyncio.sleep(0)
        head = f'{{"id":{json.dumps(number)},"ok":{{"tasks":['
        return f"{head}{','.join(pieces)}]}}}}\n".encode()


def _shown(
    tasks: list[StagerTask], left: dict[int, float] | None
) -> list[dict[str, Any]]:
    shown = [task.as_json() for task in tasks]
    if left is not None:
        for entry in shown:
            seconds = 0.0 if entry["state"] in ENDS else left.get(entry["id"])
            entry["seconds_left"] = None if seconds is None else round(seconds, 3)
    return shown
