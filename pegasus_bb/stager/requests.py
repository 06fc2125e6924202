"""What clients may ask of the service, and its answers; see docs/stager.md for each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections import Counter, defaultdict
from typing import Any, Callable

from pegasus_bb.runtime.stager_client.dataspace import as_roots
from pegasus_bb.runtime.stager_client.protocol import (
    FIELDS,
    VERSION,
    Refused,
    check_fields,
    check_version,
)
from pegasus_bb.runtime.stager_client.task import CANCELLED, ENDS, KEYS, StagerTask
from pegasus_bb.stager.connection import Answer, ClientRequest, OnRequest
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.site_config import Config

_HANGS = 10.0  # seconds in which no task ends that was cancelled
_PIECE = 500  # tasks: some milliseconds
_SHORT = 2_000  # tasks in an answer that is made at once
_ON_CONTROL = ("pause", "resume", "drain", "shutdown", "users")
_PATIENCE = 60.0  # seconds in which a client takes a long answer; else it is left


class Requests:
    """Answers every request or raises Refused."""

    def __init__(
        self, config: Config, service: Service, end: Callable[[], None]
    ) -> None:
        """``end`` is what a shutdown calls."""
        self._config, self._service, self._end = config, service, end
        self._one_of: dict[int, asyncio.Lock] = {}  # long answers, by user
        self._begun = time.time()

    async def handle(
        self, request: ClientRequest, *, is_control: bool
    ) -> Answer | None:
        """Answer a request on the socket ``control``, or ``user``."""
        message = request.message
        uid = request.connection.uid
        check_version(message)
        if is_control and uid not in self._config.control_users:
            raise Refused("not-yours", "control is for root and the Slurm user")
        if not (is_control or self._config.is_site or uid == os.getuid()):
            raise Refused("not-yours", "this is the service of another user")
        known = [do for do in FIELDS if is_control or do not in _ON_CONTROL]
        do = message.get("do")
        if do not in known:
            raise Refused("bad-request", f"do {do!r} is none of {', '.join(known)}")
        check_fields(message)
        method: OnRequest = getattr(self, f"_{do}")
        return await method(request)

    async def _ping(self, _: ClientRequest) -> Answer:
        return {
            "version": VERSION,
            "pid": os.getpid(),
            "since": self._begun,
            "roots": as_roots(self._config.spaces),
            "keys": sorted(KEYS),
            "trouble": self._service.store.trouble,
        }

    async def _submit(self, request: ClientRequest) -> Answer:
        tasks = request.message["tasks"]
        work = self._service.submit(request.connection.uid, tasks, request.raw)
        accepted = await asyncio.shield(work)  # also where the client has gone
        return {"first": accepted[0].id, "count": len(accepted)}

    async def _status(self, request: ClientRequest) -> Answer | None:
        eta = request.message.get("eta") is True
        return await self._shown(request, self._named(request), eta=eta)

    async def _wait(self, request: ClientRequest) -> Answer | None:
        tasks = self._named(request)
        await self._service.ended(tasks)
        return await self._shown(request, tasks)

    async def _cancel(self, request: ClientRequest) -> Answer:
        """The answer comes when all have ended: a copy that was complete by then is
        done, not cancelled. What hangs does not keep its user waiting."""
        message = request.message
        if (message.get("tasks") is None) != (message.get("all") is True):
            why = "cancel takes tasks, a list of their numbers, or all: true"
            raise Refused("bad-request", why)
        tasks = [task for task in self._named(request) if not task.has_ended]
        self._service.cancel(tasks)
        ending = len(tasks)
        while ending:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._service.ended(tasks), _HANGS)
            before, ending = ending, sum(not task.has_ended for task in tasks)
            if ending == before:
                break
        cancelled = sum(task.state == CANCELLED for task in tasks)
        return {"cancelled": cancelled, "ending": ending}

    async def _rate(self, request: ClientRequest) -> Answer:
        uid = request.connection.uid
        message = request.message
        change = self._service.dispatch.change_rate
        return {"shares": change(uid, message["shares"], message["rate"])}

    async def _discard(self, request: ClientRequest) -> Answer:
        """A user names a dataspace, and the configuration the folder: never a path."""
        return {"discards": self._service.discards.freed(request.message["space"])}

    async def _pause(self, request: ClientRequest) -> Answer:
        self._service.dispatch.pause(paused=request.message["do"] == "pause")
        return {}

    _resume = _pause

    async def _drain(self, _: ClientRequest) -> Answer:
        self._service.drain(self._end)
        return {}

    async def _shutdown(self, _: ClientRequest) -> Answer:
        asyncio.get_running_loop().call_soon(self._end)  # after the answer
        return {}

    async def _users(self, _: ClientRequest) -> Answer:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        tasks = self._service.tasks.values()
        for task in tasks:
            states = counts[str(task.uid)]
            states[task.state] += 1
            states["bytes"] += task.moved
        dispatch = self._service.dispatch
        return {
            "users": counts,
            "targets": dispatch.targets.shown(tasks, time.monotonic()),
            "paused": dispatch.is_paused,
            "trouble": self._service.store.trouble,
        }

    async def _shown(
        self, request: ClientRequest, tasks: list[StagerTask], *, eta: bool = False
    ) -> Answer | None:
        """Answer with ``tasks`` as they are now. Of one user one long answer comes
        after the other."""
        forecast = self._service.dispatch.forecast
        played = self._service.tasks if eta else ()
        if max(len(tasks), len(played)) <= _SHORT:
            return {
                "tasks": _as_json(tasks, forecast().seconds_left() if eta else None)
            }
        connection = request.connection
        async with self._one_of.setdefault(connection.uid, asyncio.Lock()):
            left = None
            if eta:
                loop = asyncio.get_running_loop()
                left = await loop.run_in_executor(None, forecast().seconds_left)
            connection.send(await _line_of(request.number, tasks, left))
            try:
                await asyncio.wait_for(connection.has_written(), _PATIENCE)
            except asyncio.TimeoutError:
                connection.close()
        return None

    def _named(self, request: ClientRequest) -> list[StagerTask]:
        uid = request.connection.uid
        message = request.message
        everyone = message.get("everyone") is True
        if everyone and uid not in self._config.control_users:
            raise Refused("not-yours", "only root and the Slurm user see all tasks")
        return self._service.visible(uid, message.get("tasks"), everyone=everyone)


async def _line_of(
    number: Any, tasks: list[StagerTask], left: dict[int, float] | None
) -> bytes:
    """Return a long answer, made in pieces: no other client has to wait for it."""
    pieces = []
    for first in range(0, len(tasks), _PIECE):
        shown = _as_json(tasks[first : first + _PIECE], left)
        pieces.append(json.dumps(shown, separators=(",", ":"))[1:-1])
        await asyncio.sleep(0)
    head = f'{{"id":{json.dumps(number)},"ok":{{"tasks":['
    return f"{head}{','.join(pieces)}]}}}}\n".encode()


def _as_json(
    tasks: list[StagerTask], left: dict[int, float] | None = None
) -> list[dict[str, Any]]:
    shown = [task.as_json() for task in tasks]
    if left is not None:
        for entry in shown:
            seconds = 0.0 if entry["state"] in ENDS else left.get(entry["id"])
            entry["seconds_left"] = None if seconds is None else round(seconds, 3)
    return shown
