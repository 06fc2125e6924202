"""Counters beside Kickstart's record: what the task moved, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.task import COUNTERS
from tests.support.shebang import shebang

Site = Any  # tests/runtime/conftest.py
# Starts the task as Kickstart does, and reads and writes a lot by itself.
KICKSTART = f"""{shebang()}
import subprocess, sys
open("/dev/zero", "rb").read(50_000_000)
print("- invocation: True", flush=True)
words = sys.argv[3:] if sys.argv[1] == "-n" else sys.argv[1:]
code = subprocess.run(words, stdout=sys.stderr).returncode
print("  code:", code, flush=True)
sys.exit(0 if code == 0 else 1)
"""
MOVES = "head -c 3000000 /dev/zero | cat > big; rm big; exit $0"


@pytest.fixture
def kickstart(tmp_path: Path) -> str:
    program = tmp_path / "pegasus-kickstart"
    program.write_text(KICKSTART)
    program.chmod(0o755)
    return str(program)


def test_what_the_task_moved_follows_the_record(site: Site, kickstart: str) -> None:
    done = site.start("launch", kickstart, "-n", "work", "sh", "-c", MOVES, "0")
    *record, last = done.stdout.splitlines()
    assert record == [b"- invocation: True", b"  code: 0"]
    counters = json.loads(last[len(COUNTERS) :])
    assert last.startswith(COUNTERS)
    assert 6_000_000 <= counters["rchar"] < 7_000_000  # head and cat; not Kickstart's
    assert 6_000_000 <= counters["wchar"] < 6_100_000


@pytest.mark.parametrize(
    ("task", "code"),
    [
        (["sh", "-c", "exit 3"], "3"),
        (["sh", "-c", "kill -TERM $$"], "-15"),
        (["/no/such/task"], "127"),
    ],
)
def test_the_end_is_the_tasks(
    site: Site, kickstart: str, tmp_path: Path, task: list[str], code: str
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    done = site.start("launch", kickstart, "-n", "work", *task, TMPDIR=str(folder))
    assert done.returncode == 1
    assert f"  code: {code}\n" in done.stdout.decode()
    assert (COUNTERS in done.stdout) is (code != "127")
    assert list(folder.iterdir()) == []
