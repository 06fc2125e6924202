"""Moves by rename, and the kills that come in their middle."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.hints import NO_HINT
from pegasus_bb.runtime.staging.items import Folder
from pegasus_bb.stager.trees import copy_tree, remove_copied
from tests.stager.shared import client, daemon, service
from tests.support.stager import Daemon, ends
from tests.support.trees import depth, make_deep

__all__ = ["client", "daemon", "service"]

MEMORY = Path("/dev/shm")


def moved(daemon: Daemon, name: str) -> dict[str, Any]:
    return {**daemon.copy(name), "kind": "move"}


def test_a_move_within_a_file_system_is_a_rename(
    daemon: Daemon, client: Client
) -> None:
    inodes = [daemon.make(name, 10).stat().st_ino for name in ("file", "tree/a")]
    assert ends(client, moved(daemon, "file")) == [("done", "")]
    assert ends(client, moved(daemon, "tree")) == [("done", "")]
    to = daemon.folder / "to"
    assert [(to / n).stat().st_ino for n in ("file", "tree/a")] == inodes
    assert list((daemon.folder / "from").iterdir()) == []


def test_a_second_name_of_the_destination_goes(daemon: Daemon, client: Client) -> None:
    source = daemon.make("file", 10)
    (daemon.folder / "to").mkdir()
    (daemon.folder / "to/file").hardlink_to(source)
    assert ends(client, moved(daemon, "file")) == [("done", "")]
    assert not source.exists() and (daemon.folder / "to/file").stat().st_nlink == 1


def test_what_is_moved_to_itself_stays(daemon: Daemon, client: Client) -> None:
    source = daemon.make("file", 10)
    place = f"file://{source}"
    [(state, why)] = ends(client, {"kind": "move", "source": place, "dest": place})
    assert (state, source.stat().st_size) == ("failed", 10)
    assert "moved to itself" in why


def test_notes_of_tasks_that_need_none_go_at_the_next_start(fresh: Daemon) -> None:
    """The service was killed before it could remove them. Their user may nest folders
    without end, and put links where folders were: nothing below his own is touched."""
    client = fresh.start()
    fresh.make("file", 10)
    fresh.make("large", 24 * MIB)
    [done] = client.submit([fresh.copy("file")])
    client.wait([done])
    [runs] = client.submit([fresh.copy("large", rate=MIB)])
    fresh.kill()
    folder = users_folder(fresh)
    others = fresh.folder / "others"
    for each in (others, folder / "d"):
        each.mkdir()
        (each / "7.jsonl").touch()
    (folder / "link").symlink_to(others)
    notes = ["{}.moved", "{}.jsonl", ".{}.moved.x8k2.part"]
    for number in (done, runs, 99):
        for note in notes:
            (folder / note.format(number)).touch()
    (folder / "another").touch()
    fresh.start()
    left = {path.name for path in folder.iterdir()}
    assert left == {"another", "d", "link", *(note.format(runs) for note in notes)}
    assert (others / "7.jsonl").exists() and (folder / "d" / "7.jsonl").exists()


def users_folder(daemon: Daemon) -> Path:
    return daemon.state / "users" / str(os.getuid())


def by_copy(daemon: Daemon, name: str) -> Path:
    """The source of a tree that no rename can move: it is to be merged into another."""
    (daemon.folder / f"to/{name}").mkdir(parents=True)
    (daemon.folder / f"to/{name}/there before").write_text("stays")
    source = daemon.folder / "from" / name
    source.mkdir(parents=True, exist_ok=True)
    return source


def test_a_tree_with_hard_links_moves_and_they_stay_hard_links(
    daemon: Daemon, client: Client
) -> None:
    """Each name that is removed changes the file."""
    source = by_copy(daemon, "tree")
    for number in range(5):
        first = daemon.make(f"tree/{number}/first", 5000)
        for name in ("a", "zz/z", f"{(number + 1) % 5}/other"):
            link = source / str(number) / name
            link.parent.mkdir(exist_ok=True)
            link.hardlink_to(first)
    assert ends(client, moved(daemon, "tree")) == [("done", "")]
    assert not source.exists()
    for number in range(5):
        found = [daemon.folder / f"to/tree/{number}/{n}" for n in ("first", "zz/z")]
        assert found[0].stat().st_nlink == 4 and found[0].samefile(found[1])


def test_a_hard_link_that_is_written_to_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    (tmp_path / "from/a").write_text("some")
    (tmp_path / "from/b").hardlink_to(tmp_path / "from/a")
    source, dest = (Folder.open(str(tmp_path / name)) for name in ("from", "to"))
    journal = str(tmp_path / "journal")
    copy_tree(source, dest, journal, lambda _: None, NO_HINT)
    unlink = os.unlink

    def write_then_unlink(name: str, dir_fd: int) -> None:
        os.utime(name, ns=(1, 1), dir_fd=dir_fd)
        unlink(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", write_then_unlink)
    with pytest.raises(CopyFailed, match="came or changed"):
        remove_copied(source, dest, journal)
    assert len(list((tmp_path / "from").iterdir())) == 1


def test_a_tree_of_any_depth_moves_and_is_removed(
    daemon: Daemon, client: Client
) -> None:
    """Its paths are longer than any that Linux takes."""
    source = by_copy(daemon, "tree")
    make_deep(source / "top", 1100)
    assert ends(client, moved(daemon, "tree")) == [("done", "")]
    assert not source.exists() and depth(daemon.folder / "to/tree/top") == 1100
    place = f"file://{daemon.folder}/to/tree"
    assert ends(client, {"kind": "remove", "source": place}) == [("done", "")]
    assert list((daemon.folder / "to").iterdir()) == []


@pytest.fixture
def other_file_system(tmp_path: Path) -> Iterator[Path]:
    if not os.access(MEMORY, os.W_OK) or MEMORY.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip(f"{MEMORY} is no other file system")
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def test_two_names_of_one_file_move_one_after_the_other(
    daemon: Daemon, client: Client, other_file_system: Path
) -> None:
    """To another file system. The first move changes the file of the second."""
    first = daemon.make("first", 5000)
    (first.parent / "second").hardlink_to(first)
    tasks = [
        {**moved(daemon, name), "dest": f"file://{other_file_system}/{name}"}
        for name in ("first", "second")
    ]
    ended = client.wait(client.submit(tasks))
    assert [(task["state"], task["message"]) for task in ended] == [("done", "")] * 2
    assert list(first.parent.iterdir()) == []
    assert len({p.read_bytes() for p in other_file_system.iterdir()}) == 1


@pytest.mark.skipif(not MEMORY.is_dir(), reason="needs a second file system")
def test_a_file_that_takes_the_name_of_the_source_before_it_goes_stays(
    fresh: Daemon,
) -> None:
    """Between copy and removal a note is written, which takes a sync."""
    source, other = (fresh.make(name, 10) for name in ("file", "other"))
    written = other.read_bytes()
    fresh.code = (
        "from pegasus_bb.stager import worker_pool as pool; "
        "pool._START = 'import os, sys; "
        "sys.path.insert(0, sys.argv[1]); from pegasus_bb.stager import copying; "
        "note = copying.write_note; copying.write_note = lambda *about: (note(*about), "
        f"os.replace(\\'{other}\\', \\'{source}\\')); ' + pool._START; "
    )
    with tempfile.TemporaryDirectory(dir=MEMORY) as there, fresh.start() as client:
        task = {**moved(fresh, "file"), "dest": f"file://{there}/file"}
        [(state, why)] = ends(client, task)
    assert (state, source.read_bytes()) == ("failed", written)
    assert "it changed after it was copied" in why
