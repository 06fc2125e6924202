"""The journal of the service: whole, torn by a crash, damaged by a disk."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.stager_client.dataspace import Dataspace
from pegasus_bb.stager import journal
from pegasus_bb.stager import service as module
from pegasus_bb.stager.journal import encode_line
from pegasus_bb.stager.service import Service
from pegasus_bb.stager.site_config import Config
from tests.stager.conftest import Daemon

SPEC = {"kind": "remove", "source": "file:///x"}


def line(first: int, count: int = 1) -> bytes:
    specs = [{**SPEC, "source": f"file:///x{first + n}"} for n in range(count)]
    return encode_line(journal.accepted(first, 1000, 5.0, specs))


def end(number: int) -> bytes:
    return encode_line({"ended": [[number, "done", 7, 9e9, ""]]})


def test_only_its_owner_reads_it(daemon: Daemon) -> None:
    daemon.start().close()
    assert daemon.journal.stat().st_mode & 0o077 == 0


def test_a_batch_that_is_cut_at_any_byte_is_there_whole_or_not_at_all(
    tmp_path: Path,
) -> None:
    path, before, batch = tmp_path / "journal", line(1, 3) + end(2), line(4, 1000)
    cuts = {0, 1, len(batch) - 1, len(batch)}
    cuts |= {random.Random(5).randrange(len(batch)) for _ in range(60)}
    for cut in cuts:
        path.write_bytes(before + batch[:cut])
        found = journal.read(str(path))
        assert len(found.tasks) == (1003 if cut >= len(batch) - 1 else 3)
        assert found.tasks[2].state == "done" and found.damaged == []


@pytest.mark.parametrize("blow", ["flip", "line break", "zeros"])
def test_damage_in_the_middle_costs_its_own_lines_only(
    tmp_path: Path, blow: str
) -> None:
    path, lines = tmp_path / "journal", [line(1), line(2, 5), line(7), end(7), line(8)]
    middle = bytearray(lines[1])
    at = middle.index(b"x3")
    if blow == "flip":
        middle[at] = ord("y")  # still JSON, of another file
    elif blow == "line break":
        middle[at] = ord("\n")
    else:
        middle[at : at + 9] = bytes(9)
    path.write_bytes(b"".join([lines[0], middle, *lines[2:]]))
    found = journal.read(str(path))
    assert set(found.tasks) == {1, 7, 8}
    assert found.damaged and found.damaged[0] == 2
    assert found.next_id > 100_000, "a lost task's number is given to no other"


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("byte", [b" ", b"a", b"\0", b""])
def test_a_damaged_line_break_costs_nothing(
    tmp_path: Path, place: int, byte: bytes
) -> None:
    """The checksum says where the line ends."""
    path, lines = tmp_path / "journal", [line(1), line(2, 5), line(7)]
    if byte or place == 2:
        lines[place] = lines[place][:-1] + byte
    path.write_bytes(b"".join(lines))
    found = journal.read(str(path))
    assert (set(found.tasks), found.damaged) == (set(range(1, 8)), [])


def test_two_lines_without_a_line_break_and_one_damaged_cost_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal"
    damaged = line(2).replace(b"x2", b"y2")
    path.write_bytes(line(1)[:-1] + b" " + damaged + line(3))
    found = journal.read(str(path))
    assert (set(found.tasks), found.damaged) == ({1, 3}, [1])


def test_the_service_says_what_was_damaged_and_keeps_it(daemon: Daemon) -> None:
    daemon.make("file", 10)
    client = daemon.start()
    daemon.control().ask("pause")
    tasks = [client.submit([daemon.copy(name)])[0] for name in ("lost", "file")]
    daemon.kill()
    whole = daemon.journal.read_bytes()
    daemon.journal.write_bytes(whole.replace(b"from/lost", b"from/lose"))
    damaged = daemon.journal.read_bytes()
    said = daemon.folder / "said"
    with said.open("wb") as out:
        again = daemon.start(stderr=out)
    assert again.wait(tasks[1:])[0]["state"] == "done"
    assert [task["id"] for task in again.status()] == tasks[1:]
    assert "is damaged and was skipped" in said.read_text()
    [kept] = daemon.journal.parent.glob("tasks.jsonl.damaged-*")
    assert str(kept) in said.read_text() and kept.read_bytes() == damaged
    assert journal.read(str(daemon.journal)).damaged == []


def test_a_torn_line_is_no_damage(daemon: Daemon) -> None:
    daemon.make("file", 10)
    client = daemon.start()
    daemon.control().ask("pause")
    tasks = client.submit([daemon.copy("file")])
    daemon.kill()
    with daemon.journal.open("ab") as file:
        file.write(line(2)[:-9])
    again = daemon.start()
    assert again.wait(tasks)[0]["state"] == "done"
    assert len(again.status()) == 1
    assert not list(daemon.journal.parent.glob("*.damaged-*"))


@pytest.mark.parametrize(
    "words",
    [
        {"first": 1, "uid": 0, "at": 0, "request": {"tasks": [{"kind": 3}]}},
        {"first": 1, "uid": 0, "at": "0", "request": {"tasks": [SPEC]}},
        {"first": 1, "uid": 0, "at": 0, "request": {"tasks": []}},
        {"ended": [[1, "done", 7, 9e9, ""], [2, "gone", 7, 9e9, ""]]},
        {"ended": [[1]]},
        {"learned": [["a", "b", [1.0]]]},
        {"learned": [["a", "b", [float("nan")] * 5]]},
        {"learned": [["a", "b", [0.0, 0.0, 0.0, 1.0, 0.0]]]},
        {"began": "ab", "tag": "x"},
        {},
    ],
)
def test_a_line_that_no_service_writes_is_damaged(
    tmp_path: Path, words: dict[str, object]
) -> None:
    path = tmp_path / "journal"
    path.write_bytes(line(1) + encode_line(words) + line(3))
    found = journal.read(str(path))
    assert found.damaged == [2] and set(found.tasks) == {1, 3}
    assert found.tasks[1].state == "pending"


def test_what_was_learned_outlives_the_service(daemon: Daemon) -> None:
    daemon.make("file", 3000)
    client = daemon.start()

    def seconds_left() -> float:
        daemon.control().ask("pause")
        [task] = client.submit([daemon.copy("file", size=10**9)])
        [shown] = client.status([task], eta=True)
        client.cancel([task])
        return float(shown["seconds_left"])

    client.wait(client.submit([daemon.copy("file")]))
    while (before := seconds_left()) == 10.01:
        pass  # the worker is about to say that it is idle
    daemon.control().ask("shutdown")
    assert daemon.process is not None
    assert daemon.process.wait(timeout=20) == 0
    client = daemon.start()
    assert seconds_left() == before


# As services of before wrote it: a request as it came, and what a start made of others.
OLD = """\
{"next":4}
{"learned":[["file","file",[1.0,2.0,3.0,4.0,5.0]]]}
{"first":1,"uid":7,"at":5.0,"request":{"v":1,"id":3,"do":"submit","tasks":[\
{"kind":"copy","source":"file:///a","dest":"file:///b"},\
{"kind":"move","source":"file:///c","dest":"file:///d","deadline":9e9,"priority":-3,\
"rate":5,"share":"run1","size":6,"hint":2,"digest":true}]}}
{"first":3,"uid":8,"at":6.5,"request":{"tasks":[{"kind":"remove","source":"file:///e"}]},"of":1}
{"began":[2],"tag":"1.2.3"}
{"ended":[[1,"failed",7,9e9,"No such file"]]}
{"ended":[[3,"done",0,9e9,"",{"size":6,"digest":"00"}]]}
"""


def test_one_of_an_earlier_version_is_read_and_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    lines = OLD.encode().splitlines()
    path.write_bytes(b"".join(map(journal.seal, lines)))
    found = journal.read(str(path))
    first, second, third = map(found.tasks.get, (1, 2, 3))
    assert first and second and third and not found.damaged
    assert (first.state, first.message, first.uid) == ("failed", "No such file", 7)
    assert second.terms == (9e9, -3, 5, "run1", 2)
    assert (second.size, second.digest, found.tags) == (6, True, {2: ["1.2.3"]})
    assert (third.origin, third.outcome) == ((8, 6.5, 1), {"size": 6, "digest": "00"})
    assert found.learned == [["file", "file", [1.0, 2.0, 3.0, 4.0, 5.0]]]
    shown = {number: task.as_json() for number, task in found.tasks.items()}
    journal.rewrite(str(path), found)
    again = journal.read(str(path))
    assert {n: task.as_json() for n, task in again.tasks.items()} == shown
    assert (again.next_id, again.tags) == (found.next_id, found.tags)


def test_clients_that_never_pause_do_not_keep_it_from_being_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would grow until the disk is full."""
    monkeypatch.setattr(module, "_COMPACT", 1000)
    raw = b'{"tasks":[{"kind":"remove","source":"file:///x"}]}'

    async def talk() -> tuple[int, int]:
        spaces = {"file": Dataspace("file", "/")}
        config = Config(str(tmp_path), str(tmp_path), spaces)
        service = Service(config, asyncio.get_running_loop())
        service.dispatch.pause(True)
        first, count = Path(config.journal).stat().st_ino, 0

        def again(_: Any = None) -> None:
            nonlocal count
            count += 1
            service.submit(1000, [SPEC], raw, again, pytest.fail)
            if count == 100:
                service.tidy()  # as its timer does, now and then

        again()
        for _ in range(2000):
            await asyncio.sleep(0.01)
            if Path(config.journal).stat().st_ino != first:
                break
        else:
            pytest.fail("it is still the file of the start")
        known = {*service.tasks}
        service.close()
        return len(known), len(journal.read(config.journal).tasks.keys() & known)

    known, kept = asyncio.run(talk())
    assert known == kept
