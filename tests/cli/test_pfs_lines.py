"""What a person is told of jobs that were on the PFS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.cli.fallback import pfs_lines

HEAD = "ON THE PFS, BECAUSE THE TIER WAS FULL:"
FIRST = [f"  n{n:02d}: it is full" for n in range(8)]


@pytest.mark.parametrize(
    ("count", "jobs", "lines"),
    [
        (0, 3, []),
        (2, 3, [f"{HEAD} 2 of 3 jobs", *FIRST[:2]]),
        (20, 20, [f"{HEAD} 20 of 20 jobs", *FIRST, "  and 12 more"]),
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
    assert list(pfs_lines(tmp_path)) == lines
