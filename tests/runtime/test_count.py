"""Counters beside Kickstart's record: what the task moved, and nothing else changes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.programs.count import with_counter
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


def test_where_no_temporary_file_can_be_made_the_task_runs_uncounted(
    site: Site, kickstart: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pegasus_bb.runtime import task
    from pegasus_bb.runtime.bbdir import BBDir

    def full(kind: str, environ: dict[str, str]) -> tuple[int, str]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pegasus_bb.runtime.records.streams.named_temporary", full)
    argv = [kickstart, "-n", "work", "true"]
    assert task.run_command(BBDir(str(site.bb)), argv, dict(os.environ)) == 0


def test_a_signal_to_the_job_reaches_the_task(
    site: Site, kickstart: str, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    trap = f"trap 'echo yes > {told}; exit 0' TERM; kill -TERM $PPID; sleep 5 & wait"
    site.start("launch", kickstart, "-n", "work", "sh", "-c", trap)
    assert told.read_text() == "yes\n"


@pytest.mark.parametrize(
    ("said", "place"),
    [
        (["-n", "a", "-i", "-", "-s", "o=o", "/bin/task", "-n"], 7),
        (["-n", "a", "-t", "task"], 4),
        (["-I", "list", "task"], None),  # an option that is not known here
        (["-X", "task"], None),  # the file after the options is made executable
        (["-n", "a"], None),
    ],
)
def test_it_stands_right_before_the_task(said: list[str], place: int | None) -> None:
    argv = ["/opt/pegasus-kickstart", *said]
    wanted = argv if place is None else [*argv[:place], "count", "f", *argv[place:]]
    assert with_counter(argv, "count", "f") == wanted
