"""Many requests on one connection: they are answered, and no other client waits."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.stager_client.protocol import encode
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
