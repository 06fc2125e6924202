"""Many requests on one connection: they are answered, and no other client waits."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import pytest

from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.stager_client.protocol import encode
from pegasus_bb.runtime.stager_client.task import DONE, Origin, StagerTask
from pegasus_bb.stager.connection import Connection
from pegasus_bb.stager.held_tasks import TasksEnded, Waiters
from tests.support.stager import Daemon


def line(number: int, do: str, **more: Any) -> bytes:
    return encode({"v": 1, "id": number, "do": do, **more})


def test_a_client_that_does_not_read_is_not_read_either_and_gets_every_answer(
    daemon: Daemon, client: Client
) -> None:
    daemon.control().ask("pause")
    task = {"kind": "remove", "source": f"file://{daemon.folder}/absent"}
    client.submit([task] * 2000)
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(daemon.sockets / "user"))
        sent = 0
        raw.settimeout(1)
        with pytest.raises(TimeoutError):
            while True:
                request = line(sent, "status", tasks=None).rstrip()
                raw.sendall(request + b" " * 1_000_000 + b"\n")
                sent += 1
        assert "version" in client.ask("ping")
        raw.settimeout(60)
        found = raw.makefile()
        answered = [json.loads(found.readline())["id"] for _ in range(sent)]
    assert answered == [*range(sent)] and sent


def test_a_request_waits_until_one_of_sixteen_is_answered(
    daemon: Daemon, client: Client
) -> None:
    daemon.control().ask("pause")
    [task] = client.submit([daemon.copy("absent")])
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(daemon.sockets / "user"))
        lines = [line(number, "wait", tasks=[task]) for number in range(16)]
        raw.sendall(b"".join([*lines, line(16, "ping")]))
        client.ask("ping")
        client.cancel([task])
        found = raw.makefile()
        answered = [json.loads(found.readline())["id"] for _ in range(17)]
    assert answered == [*range(17)]


async def pair(heard: list[tuple[str, int]], name: str) -> Any:
    """A connection whose requests are noted and not answered, and its client."""
    ours, its = socket.socketpair()
    connection = Connection(
        *await asyncio.open_unix_connection(sock=ours),
        lambda _, message, __: heard.append((name, message["id"])),
    )
    return connection, asyncio.ensure_future(connection.serve()), its


def test_the_requests_of_several_connections_take_turns() -> None:
    async def talk() -> list[tuple[str, int]]:
        heard: list[tuple[str, int]] = []
        both = [await pair(heard, name) for name in ("a", "b")]
        for _, _, its in both:
            its.sendall(b"".join(line(number, "ping") for number in range(3)))
        while len(heard) < 6:
            await asyncio.sleep(0)
        for connection, serving, its in both:
            connection.close()
            await serving
            its.close()
        return heard

    heard = asyncio.run(talk())
    assert [number for _, number in heard] == [0, 0, 1, 1, 2, 2]


def test_a_client_that_goes_waits_no_more() -> None:
    waiters: Waiters = {}
    tasks = [
        StagerTask(n, Origin(1, 0.0, 1), {"kind": "copy", "source": ""}) for n in (1, 2)
    ]
    ended: list[str] = []

    async def talk() -> None:
        connection, serving, its = await pair([], "a")
        gone = TasksEnded(waiters, tasks, lambda: ended.append("gone"))
        other = TasksEnded(waiters, tasks, lambda: ended.append("other"))
        for wait in (gone, other):
            wait.resume()
        connection.keep(gone)
        its.close()
        await asyncio.wait_for(serving, 20)

    asyncio.run(talk())
    assert {number: len(found) for number, found in waiters.items()} == {1: 1}
    for task in reversed(tasks):
        task.state = DONE
        for waiter in waiters.pop(task.id, ()):
            waiter(task.id)
    assert ended == ["other"] and waiters == {}
