"""Moves by rename, and the kills that come in their middle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pegasus_bb.service.client import Client
from pegasus_bb.units import MIB
from tests.service.conftest import Daemon


def end(client: Client, task: dict[str, Any]) -> tuple[str, str]:
    [ended] = client.wait(client.submit([task]))
    return ended["state"], ended["message"]


def moved(daemon: Daemon, name: str) -> dict[str, Any]:
    return {**daemon.copy(name), "kind": "move"}


def test_a_move_within_a_file_system_is_a_rename(
    daemon: Daemon, client: Client
) -> None:
    inodes = [daemon.make(name, 10).stat().st_ino for name in ("file", "tree/a")]
    assert end(client, moved(daemon, "file")) == ("done", "")
    assert end(client, moved(daemon, "tree")) == ("done", "")
    to = daemon.folder / "to"
    assert [(to / n).stat().st_ino for n in ("file", "tree/a")] == inodes
    assert list((daemon.folder / "from").iterdir()) == []


def test_a_folder_moves_into_one_that_has_other_files(
    daemon: Daemon, client: Client
) -> None:
    daemon.make("tree/a", 10)
    (daemon.folder / "to/tree").mkdir(parents=True)
    (daemon.folder / "to/tree/b").write_text("stays")
    assert end(client, moved(daemon, "tree")) == ("done", "")
    assert {p.name for p in (daemon.folder / "to/tree").iterdir()} == {"a", "b"}
    assert not (daemon.folder / "from/tree").exists()


def test_a_second_name_of_the_destination_goes(daemon: Daemon, client: Client) -> None:
    source = daemon.make("file", 10)
    (daemon.folder / "to").mkdir()
    (daemon.folder / "to/file").hardlink_to(source)
    assert end(client, moved(daemon, "file")) == ("done", "")
    assert not source.exists() and (daemon.folder / "to/file").stat().st_nlink == 1


def test_what_is_moved_to_itself_stays(daemon: Daemon, client: Client) -> None:
    source = daemon.make("file", 10)
    place = f"file://{source}"
    state, why = end(client, {"kind": "move", "source": place, "dest": place})
    assert (state, source.stat().st_size) == ("failed", 10)
    assert "moved to itself" in why


def test_a_move_that_was_killed_at_its_end_is_done(daemon: Daemon) -> None:
    daemon.make("file", 10)
    client = daemon.start()
    daemon.control().ask("pause")
    tasks = client.submit([moved(daemon, "file"), moved(daemon, "absent")])
    daemon.kill()
    rename_and_note(daemon, tasks[0])
    ended = daemon.start().wait(tasks)
    assert [task["state"] for task in ended] == ["done", "failed"]
    assert list(users_folder(daemon).iterdir()) == []


def test_notes_of_tasks_that_need_none_go_at_the_next_start(daemon: Daemon) -> None:
    """The service was killed before it could remove them."""
    client = daemon.start()
    daemon.make("file", 10)
    daemon.make("large", 24 * MIB)
    [done] = client.submit([daemon.copy("file")])
    client.wait([done])
    [runs] = client.submit([daemon.copy("large", rate=MIB)])
    daemon.kill()
    folder = users_folder(daemon)
    notes = ["{}.moved", "{}.jsonl", ".{}.moved.x8k2.part"]
    for number in (done, runs, 99):
        for note in notes:
            (folder / note.format(number)).touch()
    (folder / "another").touch()
    daemon.start()
    left = {path.name for path in folder.iterdir()}
    assert left == {"another", *(note.format(runs) for note in notes)}


def rename_and_note(daemon: Daemon, number: int) -> None:
    """What the killed worker has done."""
    (daemon.folder / "to").mkdir()
    found = (daemon.folder / "from/file").rename(daemon.folder / "to/file").stat()
    folder = users_folder(daemon)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{number}.moved").write_text(json.dumps([found.st_dev, found.st_ino]))


def users_folder(daemon: Daemon) -> Path:
    return daemon.journal.parent / "users" / str(os.getuid())
