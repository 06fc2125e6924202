"""What a person is told of jobs that were on the PFS."""

from __future__ import annotations

import json
from pathlib import Path

from pegasus_bb.cli.fallback import pfs_lines


def went(folder: Path, count: int, of: int) -> None:
    for name in ("nodes", "elsewhere"):
        (folder / "bb" / name).mkdir(parents=True)
    for n in range(of):
        (folder / f"bb/nodes/n{n:02d}.json").write_text('{"reservation": {}}')
    for n in range(count):
        note = json.dumps({"because": "it is full", "host": "n7", "time": 1.0})
        (folder / f"bb/elsewhere/n{n:02d}.json").write_text(note)


def test_nothing_where_all_is_as_planned(tmp_path: Path) -> None:
    assert list(pfs_lines(tmp_path)) == []
    went(tmp_path, 0, 3)
    assert list(pfs_lines(tmp_path)) == []


def test_how_many_which_and_why(tmp_path: Path) -> None:
    went(tmp_path, 2, 3)
    assert list(pfs_lines(tmp_path)) == [
        "ON THE PFS, FOR THE TIER HAD NO ROOM: 2 of 3 jobs",
        "  n00: it is full",
        "  n01: it is full",
    ]


def test_of_many_the_first_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    went(tmp_path, 20, 20)
    first, *named, last = pfs_lines(tmp_path)
    assert first.endswith("20 of 20 jobs")
    assert len(named) == 8
    assert last == "  and 12 more"
