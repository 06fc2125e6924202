"""The disk of the state is full: nothing that ended is forgotten, and all goes on."""

from __future__ import annotations

import errno
import os
import queue
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager import journal
from pegasus_bb.stager.full_disk import why_full
from pegasus_bb.stager.journal import Journal, encode_line
from tests.stager.conftest import SERVE, Daemon
from tests.support.forked import pegasus_bb

NO_LIMIT = resource.RLIM_INFINITY
_FULL = (
    "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, "
    "(0, resource.RLIM_INFINITY)); "
)


def fill_disk(daemon: Daemon) -> None:
    """No file becomes longer than the journal is; workers have room for small ones."""
    limit_files(daemon, daemon.journal.stat().st_size)


def make_room(daemon: Daemon) -> None:
    limit_files(daemon, NO_LIMIT)


def limit_files(daemon: Daemon, size: int) -> None:
    assert daemon.process is not None
    limits = (size, NO_LIMIT)
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, limits)


def start_on_full_disk(daemon: Daemon) -> Client:
    argv = [sys.executable, "-c", _FULL + SERVE, "600"]
    pipe = subprocess.PIPE
    daemon.process = subprocess.Popen(argv, env=daemon.environ, stderr=pipe)
    return daemon.connect()


def until(is_so: Callable[[], Any]) -> None:
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def moved_on_full_disk(daemon: Daemon, client: Client) -> tuple[int, Path]:
    """A move that ends while the journal takes nothing, and its note."""
    with daemon.control() as control:
        control.ask("pause")
        long = {"kind": "remove", "source": f"file://{'x' * 4000}"}
        client.cancel(client.submit([long] * 50))  # all that a worker writes is shorter
        daemon.make("file", 10)
        [task] = client.submit([{**daemon.copy("file"), "kind": "move"}])
        fill_disk(daemon)
        control.ask("resume")
    assert client.wait([task])[0]["state"] == "done"
    folder = daemon.journal.parent / "users" / str(os.getuid())
    return task, folder / f"{task}.moved"


def written(daemon: Daemon, task: int) -> bool:
    ends = [end for entry in daemon.entries() for end in entry.get("ended", ())]
    return task in [end[0] for end in ends]


@pytest.mark.parametrize("when", ["while it runs", "as it ends"])
def test_an_end_is_written_as_soon_as_there_is_room(daemon: Daemon, when: str) -> None:
    """Else the next service would do the task again."""
    client = daemon.start(idle=0.05 if when == "while it runs" else 600)
    task, note = moved_on_full_disk(daemon, client)
    assert not written(daemon, task) and note.exists()
    make_room(daemon)
    if when == "while it runs":
        until(lambda: written(daemon, task) and not note.exists())
        daemon.kill()
    else:
        daemon.control().ask("shutdown")
        assert daemon.process is not None and daemon.process.wait(timeout=20) == 0
    source = daemon.make("file", 10)
    again = daemon.start()
    assert again.wait([task])[0]["state"] == "done"
    assert source.exists() and not note.exists()


def test_a_move_whose_end_is_lost_is_known_by_its_note(daemon: Daemon) -> None:
    """The service is killed while its disk is full."""
    task, note = moved_on_full_disk(daemon, daemon.start())
    daemon.kill()
    [ended] = daemon.start().wait([task])
    assert (ended["state"], ended["message"]) == ("done", "")
    until(lambda: not note.exists())


@pytest.mark.parametrize("end", ["whole", "torn", "damaged"])
def test_the_service_starts_on_a_full_disk(daemon: Daemon, end: str) -> None:
    daemon.make("file", 10)
    client = daemon.start()
    tasks = list(client.submit([daemon.copy("file")]))
    client.wait(tasks)
    daemon.kill()
    with daemon.journal.open("ab") as file:
        file.write({"torn": b'{"first": 2,', "damaged": b"{}\n"}.get(end, b""))
    before = daemon.journal.read_bytes()
    client = start_on_full_disk(daemon)
    assert client.status(tasks)[0]["state"] == "done"
    for _ in range(2):
        with pytest.raises(Refused, match="takes no more: File too large"):
            client.submit([daemon.copy("file")])
    assert daemon.journal.read_bytes() == before
    make_room(daemon)
    daemon.control().ask("pause")
    tasks += client.submit([daemon.copy("file")])
    daemon.kill()
    assert daemon.process is not None and daemon.process.stderr is not None
    said = daemon.process.stderr.read().decode()
    assert said.count("is not written anew: File too large") == 1
    assert said.count("no task is accepted until") == 1
    again = daemon.start()
    assert [task["state"] for task in again.wait(tasks)] == ["done", "done"]


def test_a_disk_that_is_full_is_told_until_there_is_room(daemon: Daemon) -> None:
    client = daemon.start(idle=0.05)
    daemon.make("file", 10)
    assert client.ask("ping")["trouble"] == ""
    fill_disk(daemon)
    with pytest.raises(Refused, match="takes no more"):
        client.submit([daemon.copy("file")])
    assert "tasks.jsonl: File too large: no task" in client.ask("ping")["trouble"]
    shown = pegasus_bb(["stager", "status"], daemon.folder, daemon.environ)
    assert "File too large: no task is accepted" in shown.stderr
    make_room(daemon)
    until(lambda: client.ask("ping")["trouble"] == "")


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ({"f_bfree": 1, "f_bavail": 1}, "no space left"),
        ({"f_ffree": 0}, "takes no more files"),
        ({}, ""),
        ({"f_files": 0, "f_ffree": 0}, ""),  # btrfs counts none
    ],
)
def test_a_disk_is_full_where_it_has_no_room_or_no_inode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: dict[str, int], words: str
) -> None:
    found = {"f_frsize": 4096, "f_bfree": 9999, "f_bavail": 9999}
    disk = SimpleNamespace(**{**found, "f_files": 99, "f_ffree": 9, **left})
    monkeypatch.setattr(os, "statvfs", lambda path: disk)
    assert words in why_full(str(tmp_path)) and bool(words) == bool(why_full("/"))


class Opened:
    """A journal whose answers are awaited here."""

    def __init__(self, path: Path) -> None:
        self.path, self.heard = path, queue.Queue[OSError | None]()
        self.journal = Journal(str(path), lambda tell: tell())

    def append(self, number: int) -> OSError | None:
        entry = journal.accepted(number, 1, 5.0, [{"kind": "remove", "source": "x"}])
        self.journal.append(entry, self.heard.put)
        return self.heard.get(timeout=20)

    @property
    def found(self) -> journal.Recovered:
        return journal.read(str(self.path))


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return Opened(tmp_path / "journal")


def fail(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_journal_that_cannot_be_written_anew_goes_on_as_it_is(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opened.append(1) is None
    with monkeypatch.context() as patch:
        patch.setattr(journal, "write_text", fail)
        with pytest.raises(OSError, match="No space"):
            opened.journal.rewrite(opened.found)
    assert opened.append(2) is None
    opened.journal.rewrite(opened.found)
    assert opened.append(3) is None
    opened.journal.close()
    assert (set(opened.found.tasks), opened.found.damaged) == ({1, 2, 3}, [])


@pytest.mark.parametrize("failing", [(os, "open"), (journal, "sync_directory")])
def test_a_journal_that_cannot_be_opened_anew_is_opened_by_the_next_line(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, failing: tuple[Any, str]
) -> None:
    """No descriptor is free for a moment."""
    assert opened.append(1) is None
    found = opened.found
    with monkeypatch.context() as patch:
        patch.setattr(*failing, fail)
        for _ in range(2):
            with pytest.raises(OSError, match="No space"):
                opened.journal.rewrite(found)
        error = opened.append(2)
        assert error is not None and error.errno == errno.ENOSPC
    assert opened.append(3) is None and opened.journal.refuses == ""
    opened.journal.rewrite(opened.found)
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(*failing, fail)
        opened.journal.rewrite(opened.found)
    opened.journal.close()
    assert (set(opened.found.tasks), opened.found.damaged) == ({1, 3}, [])


def test_every_line_is_answered_where_half_of_one_cannot_be_cut_off(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opened.append(1) is None
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        patch.setattr(os, "ftruncate", fail)
        assert opened.append(2) is not None and opened.append(3) is not None
    assert opened.append(4) is None
    opened.journal.close()
    assert (set(opened.found.tasks), opened.found.damaged) == ({1, 4}, [])


def test_a_line_after_a_torn_one_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(encode_line({"next": 5}) + b'{"fir')
    again = Opened(path)
    assert again.append(7) is None
    again.journal.close()
    assert (set(again.found.tasks), again.found.damaged) == ({7}, [2])
