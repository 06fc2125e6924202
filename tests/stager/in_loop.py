"""A service in the loop of a test, without sockets and workers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pegasus_bb.runtime.stager_client.dataspace import Dataspace
from pegasus_bb.runtime.stager_client.task import StagerTask
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.site_config import Config

SPEC = {"kind": "remove", "source": "file:///x"}
UID = 1000


def with_service(folder: Path, use: Callable[[Service], Awaitable[None]]) -> None:
    """``use`` gets a service that begins no task."""

    async def talk() -> None:
        config = Config(str(folder), str(folder), {"file": Dataspace("file", "/")})
        service = Service(config, asyncio.get_running_loop())
        service.dispatch.pause(paused=True)
        try:
            await use(service)
        finally:
            service.close()

    asyncio.run(talk())


async def submitted(service: Service, count: int, **more: Any) -> list[StagerTask]:
    """``count`` tasks of one request. Raises Refused."""
    specs = [{**SPEC, **more}] * count
    raw = json.dumps({"tasks": specs}).encode()
    return await service.submit(UID, specs, raw)
