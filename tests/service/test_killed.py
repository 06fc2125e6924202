"""The service is killed: the next one goes on, and nothing is lost or half there."""

from __future__ import annotations

import json
import time

import pytest

from pegasus_bb.service.client import NoService
from pegasus_bb.units import MIB
from tests.service.conftest import Daemon


def test_accepted_tasks_survive_and_go_on(daemon: Daemon) -> None:
    names = ["large", *(f"f{number}" for number in range(100))]
    for name in names:
        daemon.make(name, 24 * MIB if name == "large" else 2000)
    client = daemon.start()
    first = client.submit([daemon.copy("large", rate=8 * MIB)])
    tasks = client.submit([daemon.copy(name) for name in names[1:]])
    while not client.status(first)[0]["moved"]:
        time.sleep(0.01)
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


def test_a_torn_journal_keeps_what_was_answered(daemon: Daemon) -> None:
    daemon.make("file", 10)
    client = daemon.start()
    daemon.control().ask("pause")
    tasks = client.submit([daemon.copy("file")])
    daemon.kill()
    line = {"first": 2, "uid": 0, "at": 0, "request": {"tasks": [daemon.copy("x")]}}
    with daemon.journal.open("a") as journal:
        journal.write(json.dumps(line)[:-9])
    again = daemon.start()
    assert again.wait(tasks)[0]["state"] == "done"
    assert len(again.status()) == 1


def test_a_name_that_a_killed_try_gave_is_not_given_again(daemon: Daemon) -> None:
    """Killed between the rename and the line about it."""
    daemon.make("file", 10)
    client = daemon.start()
    tasks = client.submit([daemon.copy("file")])
    client.wait(tasks)
    daemon.kill()
    inode = (daemon.folder / "to/file").stat().st_ino
    lines = daemon.journal.read_text().splitlines()
    assert "ended" in json.loads(lines.pop())
    daemon.journal.write_text("\n".join(lines) + "\n")
    assert daemon.start().wait(tasks)[0]["state"] == "done"
    assert (daemon.folder / "to/file").stat().st_ino == inode
