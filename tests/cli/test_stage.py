"""pegasus-bb stage, as it is typed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pegasus_bb.core.errors import DONE, INTERRUPTED, NOT_COPIED, USAGE
from tests.support.forked import pegasus_bb


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "state" / "ledger.jsonl"))
    (tmp_path / "data" / "in").mkdir(parents=True)
    (tmp_path / "data" / "a").write_text("one")
    (tmp_path / "data" / "in" / "b").write_text("two")
    return tmp_path


def stage(work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return pegasus_bb(["stage", *words], work, dict(os.environ))


def test_a_folder_and_again(work: Path) -> None:
    done = stage(work, "data", "copy/of it/", "--json")
    assert done.returncode == DONE, done.stderr
    said = json.loads(done.stdout)
    assert (said["files"], said["bytes"], said["kept"]) == (2, 6, 0)
    assert (work / "copy" / "of it" / "in" / "b").read_text() == "two"
    assert Path(said["journal"]).parent == work / "state" / "stage"
    again = stage(work, "data", "copy/of it")
    assert again.returncode == DONE
    assert "2 were there already" in again.stderr


def test_a_file_into_a_folder_and_to_a_name(work: Path) -> None:
    (work / "there").mkdir()
    assert stage(work, "data/a", "there").stderr.startswith("1 file, 3 B in ")
    assert stage(work, "data/a", "new/name", "--quiet").stderr == ""
    assert (work / "there" / "a").read_text() == "one"
    assert (work / "new" / "name").read_text() == "one"


def test_what_did_not_arrive_is_named(work: Path) -> None:
    os.mkfifo(work / "data" / "pipe")
    done = stage(work, "data", "copy", "--json")
    assert done.returncode == NOT_COPIED == json.loads(done.stdout)["status"]
    assert "data/pipe: not a regular file" in done.stderr
    assert (work / "copy" / "a").exists()


IMPOSSIBLE = [("none", "copy"), ("data", "data/in/copy"), ("", "copy"), ("data", "")]


@pytest.mark.parametrize("words", [*IMPOSSIBLE, ("data", "data/a")])
def test_nothing_to_copy_leaves_nothing(work: Path, words: tuple[str, str]) -> None:
    assert stage(work, *words).returncode == USAGE
    assert not (work / "copy").exists()
    assert not (work / "state").exists()


def test_ctrl_c_leaves_no_part_and_what_has_arrived_stays(work: Path) -> None:
    """However far the copiers are, all of them have ended before the program does."""
    for number in range(6):
        (work / "data" / f"large{number}").write_bytes(bytes(range(256)) * (60 << 12))
    process = subprocess.Popen(
        [sys.executable, "-m", "pegasus_bb", "stage", "data", "copy"],
        cwd=work,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    until = time.monotonic() + 120
    while not any((work / "copy").glob(".large*")) and time.monotonic() < until:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED, said
    assert "run it again to continue" in said
    assert not any((work / "copy").glob(".*.part"))
    assert stage(work, "data", "copy").returncode == DONE
