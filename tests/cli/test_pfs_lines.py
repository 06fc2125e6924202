"""What a person is told of jobs that were on the PFS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.cli.fallback import pfs_lines

HEAD = "ON THE PFS, BECAUSE THE TIER WAS FULL:"


@pytest.mark.parametrize(
    ("count", "jobs", "lines"),
    [
        (0, 3, []),
        (2, 3, [f"{HEAD} 2 of 3 jobs", "  n00: it is full", "  n01: it is full"]),
        (20, 20, [f"{HEAD} 20 of 20 jobs", *[""] * 8, "  and 12 more"]),
    ],
)
def test_how_many_and_why(
    tmp_path: Path, count: int, jobs: int, lines: list[str]
) -> None:
    assert list(pfs_lines(tmp_path)) == []
    for name in ("nodes", "elsewhere"):
        (tmp_path / "bb" / name).mkdir(parents=True)
    for n in range(jobs):
        (tmp_path / f"bb/nodes/n{n:02d}.json").write_text('{"reservation": {}}')
    for n in range(count):
        note = json.dumps({"because": "it is full", "host": "n7", "time": 1.0})
        (tmp_path / f"bb/elsewhere/n{n:02d}.json").write_text(note)
    found = list(pfs_lines(tmp_path))
    assert [line for line, known in zip(found, lines, strict=True) if known] == [
        line for line in lines if line
    ]
