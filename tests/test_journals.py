"""Journals that crashes, full disks and kills cut short: what was noted stays."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest

from pegasus_bb import files
from pegasus_bb.files import append_json, read_journal


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


@pytest.mark.parametrize("junk", [b"\0" * 4096, b"[" * 100_000, b"\xff\xfe{", b"3"])
def test_what_a_broken_disk_left_at_the_end_costs_only_itself(
    tmp_path: Path, junk: bytes
) -> None:
    path = tmp_path / "journal"
    append_json(str(path), {"n": 0})
    path.write_bytes(path.read_bytes() + junk)
    append_json(str(path), {"n": 1})
    assert numbers(path) == [0, 1]


def test_a_line_that_finds_no_room_is_an_error_and_torn(tmp_path: Path) -> None:
    """RLIMIT_FSIZE stands for a full disk: a part is taken, the rest is refused."""
    path = tmp_path / "journal"
    append_json(str(path), {"n": 0})
    room = path.stat().st_size + 10
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(OSError):
            append_json(str(path), {"n": 1, "name": "longer than the room"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert path.stat().st_size == room
    append_json(str(path), {"n": 2})
    assert numbers(path) == [0, 2]


def test_a_new_journal_is_in_its_folder_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(files, "sync_directory", synced.append)
    append_json(str(tmp_path / "journal"), {"n": 0})
    append_json(str(tmp_path / "journal"), {"n": 1})
    assert synced == [str(tmp_path)]


def test_writers_that_are_killed_tear_no_line_of_others(tmp_path: Path) -> None:
    path, noted = tmp_path / "journal", tmp_path / "noted"
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
