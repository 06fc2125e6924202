"""Journals that several threads and processes write at once."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.files import (
    append_json,
    create_text,
    read_journal,
    read_json,
    write_json,
)

LINES = 40
WRITERS = 4
# A process whose threads all write, as transfer's do.
WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pegasus_bb.files import append_json, read_journal
path, name, lines = sys.argv[1], sys.argv[2], int(sys.argv[3])
def write(n):
    append_json(path, {"who": f"{name}-{n}", "pad": "x" * (n * 7 % 50)})
    list(read_journal(path))
with ThreadPoolExecutor(4) as pool:
    list(pool.map(write, range(lines)))
"""


def test_threads_lose_no_line(tmp_path: Path) -> None:
    path = str(tmp_path / "manifest.jsonl")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: append_json(path, {"n": n}), range(200)))

    assert sorted(entry["n"] for entry in read_journal(path)) == list(range(200))


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


def test_a_line_that_a_crash_tore_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "manifest.jsonl"
    append_json(str(path), {"n": 1})
    with path.open("a") as torn:
        torn.write('{"n": 2, "di')

    append_json(str(path), {"n": 3})

    assert [entry["n"] for entry in read_journal(str(path))] == [1, 3]


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
    journal, room, write = str(tmp_path / "journal"), [30], os.write

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


@pytest.mark.parametrize("call", ["fsync", "fchmod", "replace"])
def test_an_error_names_the_file_that_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fails(*_: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = tmp_path / "note.json"
    with monkeypatch.context() as broken:
        broken.setattr(os, call, fails)
        with pytest.raises(OSError, match=f"error: '{path}'$"):
            write_json(str(path), {})
    assert list(tmp_path.iterdir()) == []


def test_of_many_that_make_a_file_at_once_one_does_and_none_is_torn(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "storage_decision.json")
    texts = [f"{n}" * 1000 for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda text: create_text(path, text), texts))
    [winner] = [text for text, done in zip(texts, made, strict=True) if done]
    assert Path(path).read_text() == winner
    assert not create_text(path, "later")
    assert Path(path).read_text() == winner
    assert [each.name for each in tmp_path.iterdir()] == ["storage_decision.json"]
