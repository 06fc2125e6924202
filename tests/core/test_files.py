"""Small files and journals: written by many at once, cut short, never torn."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core import files
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import (
    append_json,
    create_text,
    lock_holder,
    read_journal,
    read_json,
)
from pegasus_bb.run.engine.lock import lock_submit_dir
from pegasus_bb.runtime.staging.stage_journal import StageJournal

LINES = 40
WRITERS = 4
# A process whose threads all write, as transfer's do.
WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pegasus_bb.core.files import append_json, read_journal
path, name, lines = sys.argv[1], sys.argv[2], int(sys.argv[3])
def write(n):
    append_json(path, {"who": f"{name}-{n}", "pad": "x" * (n * 7 % 50)})
    list(read_journal(path))
with ThreadPoolExecutor(4) as pool:
    list(pool.map(write, range(lines)))
"""


def test_processes_with_threads_lose_no_line(tmp_path: Path) -> None:
    path = str(tmp_path / "manifest.jsonl")
    argv = [sys.executable, "-c", WRITER, path]

    writers = [
        subprocess.Popen([*argv, f"w{number}", str(LINES)]) for number in range(WRITERS)
    ]

    assert [writer.wait(120) for writer in writers] == [0] * WRITERS
    assert {entry["who"] for entry in read_journal(path)} == {
        f"w{number}-{line}" for number in range(WRITERS) for line in range(LINES)
    }


def test_a_line_that_nests_too_deeply_is_skipped_as_a_torn_one(tmp_path: Path) -> None:
    path = tmp_path / "manifest.jsonl"
    path.write_text('{"n": 1}\n' + "[" * 200_000 + '\n{"n": 2}\n')
    assert [entry["n"] for entry in read_journal(str(path))] == [1, 2]
    with pytest.raises(ValueError, match="nested too deeply"):
        path.write_text("[" * 200_000)
        read_json(str(path))


def test_a_line_for_which_only_a_part_has_room_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """write() takes what there is room for, and complains at the next call only."""
    journal = str(tmp_path / "journal")
    room = [30]
    write = os.write

    def nearly_full(handle: int, data: Any) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = write(handle, bytes(data)[: room[0]])
        room[0] -= done
        return done

    append_json(journal, {"n": 1})
    with monkeypatch.context() as full:
        full.setattr(os, "write", nearly_full)
        with pytest.raises(OSError, match="No space left") as caught:
            append_json(journal, {"n": 2, "long": "x" * 100})
    assert caught.value.filename == journal
    append_json(journal, {"n": 3})
    assert [entry["n"] for entry in read_journal(journal)] == [1, 3]


def test_of_many_that_make_a_file_at_once_one_does(tmp_path: Path) -> None:
    path = str(tmp_path / "storage_decision.json")
    texts = [f"{n}" * 1000 for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda text: create_text(path, text), texts))
    [winner] = [text for text, done in zip(texts, made, strict=True) if done]
    assert Path(path).read_text() == winner
    assert not create_text(path, "later")
    assert Path(path).read_text() == winner
    assert [each.name for each in tmp_path.iterdir()] == ["storage_decision.json"]


# --- cut short by crashes, full disks and kills: what was noted stays ---


def numbers(path: Path) -> list[int]:
    return [entry["n"] for entry in read_journal(str(path))]


def test_cut_off_anywhere_it_loses_the_last_line_and_no_other(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    for n in range(3):
        append_json(str(whole), {"n": n, "name": "d\u00e9j\u00e0\nvu"})
    text = whole.read_bytes()
    ends = [i + 1 for i, byte in enumerate(text) if byte == ord("\n")]
    for length in range(len(text) + 1):
        cut = tmp_path / "cut"
        cut.write_bytes(text[:length])
        append_json(str(cut), {"n": 9})
        kept = sum(end - 1 <= length for end in ends)  # the line end can be mended
        assert numbers(cut) == [*range(kept), 9], length


def test_writers_that_are_killed_tear_no_line_of_others(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    noted = tmp_path / "noted"
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            _write_on(path, noted, number)
        children.append(child)
    while not noted.exists() or noted.read_text().count("\n") < 20:
        time.sleep(0.01)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    append_json(str(path), {"n": -1})
    said = {json.loads(line) for line in noted.read_text().splitlines()[:-1]}
    found = numbers(path)
    assert said <= set(found), "a line whose writer was told that it is there"
    assert len(found) == len(set(found)) > 1


def _write_on(path: Path, noted: Path, number: int) -> NoReturn:
    """Until it is killed, or two minutes are over."""
    until = time.monotonic() + 120
    try:
        with noted.open("a") as out:
            while time.monotonic() < until:
                append_json(str(path), {"n": number})
                print(number, file=out, flush=True)
                number += 10
    finally:
        sys.stderr.flush()
        os._exit(1)


# --- any journal: every whole line is read, none invented ---

# Any text, halves of pairs as os.fsdecode makes of bytes that are none included.
TEXT = st.text(st.characters(), max_size=12)
VALUES = TEXT | st.integers() | st.booleans() | st.none() | st.lists(TEXT, max_size=3)
ENTRIES = st.lists(st.dictionaries(TEXT, VALUES, max_size=4), min_size=1, max_size=5)
# What a file system may leave behind the last whole line: zeros, or anything at all
# that is not a line of its own.
TAILS = st.binary(max_size=20).map(lambda tail: tail.replace(b"{", b"["))


def written(folder: pytest.TempPathFactory, entries: list[dict[str, Any]]) -> Path:
    path = folder.mktemp("journal") / "j.jsonl"
    for entry in entries:
        append_json(str(path), entry)
    return path


@given(entries=ENTRIES, tail=TAILS)
def test_anything_may_stand_behind_the_last_whole_line(
    tmp_path_factory: pytest.TempPathFactory, entries: list[dict[str, Any]], tail: bytes
) -> None:
    path = written(tmp_path_factory, entries)
    assert list(read_journal(str(path))) == entries
    with path.open("ab") as journal:
        journal.write(tail)
    append_json(str(path), {"after": 1})
    assert list(read_journal(str(path))) == [*entries, {"after": 1}]


def test_a_lock_is_waited_for_and_is_taken_or_an_error(
    tmp_path: Path,
) -> None:
    held, mine = ((tmp_path / "lock").open("w") for _ in range(2))
    files.await_lock(held.fileno(), 0.0)
    pauses: list[float] = []
    with pytest.raises(BlockingIOError):
        files.await_lock(mine.fileno(), 1.0, 0.25, pauses.append)
    assert pauses == [0.25] * 4
    files.await_lock(mine.fileno(), 1.0, 0.25, lambda seconds: held.close())
    mine.close()


def test_a_file_system_without_locks_is_not_taken_for_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    lock = tmp_path / "lock"
    said = r"cannot lock files \(No locks available\)"
    lock.touch()
    assert lock_holder(str(lock)) == ""
    with pytest.raises(UsageError, match=said), lock_submit_dir(lock):
        pass
    with pytest.raises(UsageError, match="cannot be locked: No locks available"):
        StageJournal(str(tmp_path / "journal"), "from", "to")


def test_the_longest_name_of_a_node_has_room_for_its_temporary_one(
    tmp_path: Path,
) -> None:
    """Planning lets a name have 235 bytes, and its file ends in .json."""
    file = tmp_path / ("n" * 235 + ".json")
    files.write_text(str(file), "{}")
    assert list(tmp_path.iterdir()) == [file]
