"""Memory to a file, by a descriptor that comes with the request."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.client import Client, NoService
from pegasus_bb.runtime.stager_client.memory import Inbox, memory_of, send_descriptors
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.task_descriptors import TaskDescriptors
from pegasus_bb.stager.worker_pool import WorkerProcess
from tests.stager.conftest import Daemon


def test_memory_becomes_a_file_of_its_user_only(daemon: Daemon, client: Client) -> None:
    dest = daemon.folder / "to/memory"
    for data in (b"", b"x", os.urandom(3 * MIB)):
        number = client.submit_memory(data, f"file://{dest}")
        [ended] = client.wait([number])
        assert (ended["state"], ended["moved"]) == ("done", len(data))
        assert dest.read_bytes() == data
    assert stat.S_IMODE(dest.stat().st_mode) == 0o600
    assert [path.name for path in dest.parent.iterdir()] == ["memory"]


def test_many_descriptors_come_with_one_request(daemon: Daemon, client: Client) -> None:
    handles = []
    for number in range(10):
        path = daemon.make(f"f{number}", 10)
        handles.append(os.open(path, os.O_RDONLY))
    tasks = [daemon.copy(f"f{n}", source=f"fd://{n}") for n in range(10)]
    tasks += [daemon.copy("again", source="fd://3")]
    assert {t["state"] for t in client.wait(client.submit(tasks, handles))} == {"done"}
    assert all(daemon.arrived(f"f{number}") for number in range(10))


def test_memory_that_waits_does_not_outlive_the_service(daemon: Daemon) -> None:
    client = daemon.start()
    daemon.control().ask("pause")
    number = client.submit_memory(b"data", f"file://{daemon.folder}/to/memory")
    daemon.kill()
    [ended] = daemon.start().wait([number])
    assert ended["state"] == "failed" and "submit it again" in ended["message"]


def test_descriptors_are_checked(daemon: Daemon, client: Client) -> None:
    task = daemon.copy("x", source="fd://0")
    with pytest.raises(Refused, match="comes with the request"):
        client.submit([task])
    with pytest.raises(Refused, match="comes with the request"):
        client.submit([{**task, "source": "fd://1"}], [0])
    with pytest.raises(Refused, match="did not come"):
        client.ask("submit", tasks=[task], descriptors=2)
    write_only = os.open(daemon.make("file", 10), os.O_WRONLY)
    with pytest.raises(Refused, match="open for reading"):
        client.submit([task], [write_only])
    folder = os.open(daemon.folder, os.O_RDONLY)
    [ended] = client.wait(client.submit([task], [folder]))
    assert "neither of memory nor of a file" in ended["message"]


def test_no_user_holds_the_descriptors_of_all() -> None:
    """Also while none of his requests is durable; what was refused holds none."""
    held, taken = TaskDescriptors(), os.open(os.devnull, os.O_RDONLY)
    handles = Path("/proc/self/fd")
    before = len(list(handles.iterdir()))
    held.hold(1000, dict.fromkeys(range(100), taken))
    with pytest.raises(Refused, match="100 of your tasks read memory"):
        held.hold(1000, {100: taken})
    for user in (1001, 1002, 1003):
        held.hold(user, dict.fromkeys(range(100 * user, 100 * user + 100), taken))
    with pytest.raises(Refused, match="too many descriptors wait"):
        held.hold(1004, {200: taken})
    assert len(list(handles.iterdir())) == before + 400
    for task in held.tasks():
        held.close(task)
    assert len(list(handles.iterdir())) == before
    held.hold(1000, {100: taken})
    held.close(100)
    os.close(taken)


def test_a_request_whose_descriptors_cannot_all_be_copied_holds_none() -> None:
    held, taken = TaskDescriptors(), os.open(os.devnull, os.O_RDONLY)
    with pytest.raises(Refused, match="Bad file descriptor; try again"):
        held.hold(1000, {1: taken, 2: taken, 3: 1 << 30})
    assert held.tasks() == set()
    os.close(taken)


def test_descriptors_that_no_request_names_are_few_on_all_connections(
    daemon: Daemon, client: Client
) -> None:
    assert daemon.process is not None
    handles = Path(f"/proc/{daemon.process.pid}/fd")
    before, memory = len(list(handles.iterdir())), memory_of(b"data")
    clients = []
    for _ in range(40):
        clients.append(daemon.connect())
        with contextlib.suppress(NoService, OSError):
            send_descriptors(clients[-1]._sock, b" ", [memory] * 16)
            client.ask("ping")
    assert len(list(handles.iterdir())) <= before + len(clients) + 256
    for each in clients:
        each.close()
    dest = f"file://{daemon.folder}/to/memory"
    [ended] = client.wait([client.submit_memory(b"data", dest)])
    assert ended["state"] == "done"
    os.close(memory)


def test_no_descriptor_is_kept(daemon: Daemon, client: Client) -> None:
    assert daemon.process is not None
    handles = Path(f"/proc/{daemon.process.pid}/fd")
    dest = f"file://{daemon.folder}/to/memory"
    client.wait([client.submit_memory(b"data", dest)])
    before = len(list(handles.iterdir()))
    for _ in range(20):
        client.wait([client.submit_memory(b"data", dest)])
        with pytest.raises(Refused):
            client.submit([{"kind": "burn"}], [0])
    assert len(list(handles.iterdir())) <= before + 6  # a second worker has some


def test_a_worker_keeps_no_descriptor_of_a_task_that_was_cancelled() -> None:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    memory, inbox = memory_of(b"data"), Inbox(there)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(1, 100):
        send_descriptors(here, str(number).encode(), [memory])
    os.close(inbox.take(99))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    for handle in (here, there):
        handle.close()
    os.close(memory)


def test_a_worker_that_can_get_no_descriptor_makes_way_for_another() -> None:
    """Its tasks would wait for what does not come."""

    async def talk() -> None:
        lives, gone = asyncio.Event(), asyncio.Event()

        def hear(_: WorkerProcess, message: dict[str, Any]) -> None:
            (gone if "gone" in message else lives).set()

        worker, memory = WorkerProcess(os.getuid(), hear), memory_of(b"data")
        await asyncio.wait_for(lives.wait(), 60)
        for number in range(2000):
            worker.send_descriptor(number, memory)
        os.close(memory)
        await asyncio.wait_for(gone.wait(), 60)

    asyncio.run(talk())
