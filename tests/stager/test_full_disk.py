"""The disk of the state is full: nothing that ended is forgotten, and all goes on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.stager_client.protocol import Refused
from tests.support.forked import pegasus_bb
from tests.support.stager import Daemon, finished
from tests.support.waiting import until, until_gone

FULL = (
    "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, "
    "(0, resource.RLIM_INFINITY)); "
)


def moved_on_full_disk(daemon: Daemon, client: Client) -> tuple[int, Path]:
    """A move that ends while the database takes nothing, and its note. The only
    worker is there before."""
    daemon.make("file", 10)
    finished(client, daemon.copy("file"))
    with daemon.control() as control:
        control.ask("pause")
        [task] = client.submit([{**daemon.copy("file"), "kind": "move"}])
        daemon.limit_files(0)
        control.ask("resume")
    assert client.wait([task])[0]["state"] == "done"
    folder = daemon.state / "users" / str(os.getuid())
    return task, folder / f"{task}.moved"


def written(daemon: Daemon, task: int) -> bool:
    return (task,) in daemon.rows("SELECT task FROM ends")


@pytest.mark.parametrize("when", ["while it runs", "as it ends"])
def test_an_end_is_written_as_soon_as_there_is_room(daemon: Daemon, when: str) -> None:
    """Else the next service would do the task again."""
    client = daemon.start(idle=0.05 if when == "while it runs" else 600, workers=1)
    task, note = moved_on_full_disk(daemon, client)
    assert not written(daemon, task) and note.exists()
    daemon.limit_files()
    if when == "while it runs":
        until(lambda: written(daemon, task) and not note.exists())
        daemon.kill()
    else:
        daemon.ask_control("shutdown")
        assert daemon.has_ended()
    source = daemon.make("file", 10)
    again = daemon.start()
    assert again.wait([task])[0]["state"] == "done"
    assert source.exists() and not note.exists()


def test_a_move_whose_end_is_lost_is_known_by_its_note(daemon: Daemon) -> None:
    """The service is killed while its disk is full."""
    task, note = moved_on_full_disk(daemon, daemon.start(workers=1))
    daemon.kill()
    [ended] = daemon.start().wait([task])
    assert (ended["state"], ended["message"]) == ("done", "")
    until_gone(note)


def test_the_service_starts_on_a_full_disk(daemon: Daemon) -> None:
    daemon.make("file", 10)
    client = daemon.start()
    tasks = list(client.submit([daemon.copy("file")]))
    client.wait(tasks)
    daemon.kill()
    daemon.code = FULL
    client = daemon.start(stderr=subprocess.PIPE)
    assert client.status(tasks)[0]["state"] == "done"
    for _ in range(2):
        with pytest.raises(Refused, match="takes no more: "):
            client.submit([daemon.copy("file")])
    daemon.limit_files()
    daemon.pause()
    tasks += client.submit([daemon.copy("file")])
    daemon.kill()
    assert daemon.process is not None and daemon.process.stderr is not None
    said = daemon.process.stderr.read().decode()
    assert said.count("no task is accepted until") == 1
    daemon.code = ""
    again = daemon.start()
    assert [task["state"] for task in again.wait(tasks)] == ["done", "done"]


def test_a_disk_that_is_full_is_told_until_there_is_room(daemon: Daemon) -> None:
    client = daemon.start(idle=0.05)
    daemon.make("file", 10)
    assert client.ask("ping")["trouble"] == ""
    daemon.limit_files(0)
    with pytest.raises(Refused, match="takes no more"):
        client.submit([daemon.copy("file")])
    assert "tasks.sqlite: " in client.ask("ping")["trouble"]
    shown = pegasus_bb(["stager", "status"], daemon.folder, daemon.environ)
    assert "no task is accepted until" in shown.stderr
    daemon.limit_files()
    until(lambda: client.ask("ping")["trouble"] == "")
