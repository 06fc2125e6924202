"""The service is killed: the next one goes on, and nothing is lost or half there."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.client import Client, NoService
from tests.support.stager import Daemon, finished, until_moved


def test_accepted_tasks_survive_and_go_on(daemon: Daemon) -> None:
    names = ["large", *(f"f{number}" for number in range(100))]
    for name in names:
        daemon.make(name, 24 * MIB if name == "large" else 2000)
    client = daemon.start()
    first = client.submit([daemon.copy("large", rate=8 * MIB)])
    tasks = client.submit([daemon.copy(name) for name in names[1:]])
    until_moved(client, first[0])
    daemon.kill()
    with pytest.raises(NoService):
        client.wait(first)
    again = daemon.start()
    ended = again.wait([*first, *tasks])
    assert {task["state"] for task in ended} == {"done"}
    assert all(map(daemon.arrived, names))


def test_ended_tasks_are_not_done_again(daemon: Daemon) -> None:
    source = daemon.make("file", 10)
    tasks = daemon.start().submit([daemon.copy("file")])
    daemon.connect().wait(tasks)
    daemon.kill()
    source.write_text("other")
    [ended] = daemon.start().wait(tasks)
    assert ended["state"] == "done"
    assert (daemon.folder / "to/file").stat().st_size == 10


def test_a_name_that_a_killed_try_gave_is_not_given_again(daemon: Daemon) -> None:
    """Killed between the rename and the line about it. What it has copied is known in
    any case."""
    daemon.make("file", 10)
    client = daemon.start()
    tasks = client.submit([daemon.copy("file", digest=True)])
    [before] = client.wait(tasks)
    inode = (daemon.folder / "to/file").stat().st_ino
    for is_known in (True, False):
        daemon.kill()
        if not is_known:
            daemon.forget_ends()
        [after] = daemon.start().wait(tasks)
        assert (after["state"], after["outcome"]) == ("done", before["outcome"])
    assert (daemon.folder / "to/file").stat().st_ino == inode


def parts(daemon: Daemon) -> list[Path]:
    return [path for path in (daemon.folder / "to").iterdir() if path.suffix == ".part"]


def copying(daemon: Daemon) -> tuple[Client, int]:
    """A client of the service, and its task that will take a while."""
    daemon.make("large", 24 * MIB)
    client = daemon.start()
    [task] = client.submit([daemon.copy("large", rate=MIB)])
    until_moved(client, task)
    return client, task


def worker_that_copies(daemon: Daemon) -> int:
    """As soon as there is one: its number is in the name of what it writes."""
    while True:
        numbers = [part.name.split(".")[-3] for part in parts(daemon)]
        for number in numbers:
            if Path(f"/proc/{number}").exists():
                return int(number)
        time.sleep(0.01)


def test_a_task_whose_worker_dies_again_and_again_fails_and_leaves_no_part(
    daemon: Daemon,
) -> None:
    client, task = copying(daemon)
    for _ in range(3):
        worker = worker_that_copies(daemon)
        os.kill(worker, signal.SIGKILL)
        while Path(f"/proc/{worker}").exists():
            time.sleep(0.01)
    [ended] = client.wait([task])
    assert ended["state"] == "failed" and "3 times" in ended["message"]
    assert parts(daemon) == []


NO_PROCESS = """
import asyncio, errno
real, failures = asyncio.create_subprocess_exec, []
async def start(*words, **more):
    failures.append(1)
    if len(failures) <= 4:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
    return await real(*words, **more)
asyncio.create_subprocess_exec = start
"""


def test_tasks_wait_while_no_worker_can_be_started(daemon: Daemon) -> None:
    """The host has no process left, say: that is no fault of theirs."""
    daemon.make("file", 10)
    daemon.code = f"{NO_PROCESS}from pegasus_bb.stager import dispatch\n"
    daemon.code += "dispatch._REST = 0.1\n"
    with daemon.start() as client:
        tasks = client.submit([daemon.copy("file") for _ in range(3)])
        cancelled = client.submit([daemon.copy("absent")])
        client.cancel(cancelled)
        assert {task["state"] for task in client.wait(tasks)} == {"done"}
        assert client.wait(cancelled)[0]["state"] == "cancelled"


def test_a_cancelled_task_that_waits_again_leaves_no_part(daemon: Daemon) -> None:
    _, task = copying(daemon)
    daemon.kill()
    again = daemon.start()
    again.cancel([task])
    assert again.wait([task])[0]["state"] == "cancelled"
    assert parts(daemon) == []


def test_the_name_of_a_part_is_durable_before_the_part(daemon: Daemon) -> None:
    """So a service that is killed at any moment finds what it has to remove."""
    daemon.make("large", 24 * MIB)
    client = daemon.start()
    client.submit([daemon.copy("large", rate=MIB)])
    while not (daemon.folder / "to").exists() or not parts(daemon):
        time.sleep(0.001)
    [part] = parts(daemon)
    tag = part.name[len(".large.") : -len(".part")]
    assert daemon.rows("SELECT tag FROM tags") == [(tag,)]


def test_a_state_folder_that_cannot_be_written_fails_the_task_not_the_service(
    daemon: Daemon,
) -> None:
    daemon.make("file", 10)
    client = daemon.start()
    users = daemon.state / "users"
    users.write_text("in the way")
    [ended] = finished(client, daemon.copy("file"))
    assert ended["state"] == "failed" and str(users) in ended["message"]
    users.unlink()
    [ended] = finished(client, daemon.copy("file"))
    assert ended["state"] == "done"
