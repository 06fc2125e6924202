"""No room for what the engine notes: one message, tasks ended, the next run goes on."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from pegasus_bb.engine import journal as journal_module
from pegasus_bb.engine import local
from pegasus_bb.engine.processes import Processes

from .conftest import Folder, children_named


def limited(folder: Folder, limit: int, size: int) -> subprocess.CompletedProcess[str]:
    """``pegasus-bb run`` where the system allows no more than ``size``."""
    return subprocess.run(
        [sys.executable, "-m", "pegasus_bb", "run", str(folder.write())],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(limit, (size, size)),
    )


@pytest.mark.parametrize("size", [64, 500, 900])
def test_a_journal_that_cannot_grow(folder: Folder, size: int) -> None:
    for name in "abcd":
        folder.job(name)
    folder.chain(*"abcd")
    done = limited(folder, resource.RLIMIT_FSIZE, size)
    assert (done.returncode, "Traceback" in done.stderr) == (80, False), done.stderr
    assert f"pegasus-bb run {folder.path}" in done.stderr
    assert children_named(f"{folder.path}#") == []
    assert folder.run().done == 4


@pytest.mark.parametrize("size", [9, 12, 14])
def test_too_few_open_files(folder: Folder, size: int) -> None:
    folder.job("a", pre=folder.script("pre-a"))
    done = limited(folder, resource.RLIMIT_NOFILE, size)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 80), done.stderr
    assert folder.run().done == 1


def test_lines_that_had_no_room_are_not_lost(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder.path / "jobstate.log"
    journal = journal_module.Journal(path)
    journal.note("a", "SUBMIT", "1.0", "", 1)
    write = journal_module.os.write

    def half(handle: int, data: bytes) -> int:
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return write(handle, data[: len(data) - 10])

    with monkeypatch.context() as full:
        full.setattr(journal_module.os, "write", half)
        with pytest.raises(OSError, match=r"jobstate\.log"):
            journal.flush()
    journal.close()
    (event,) = journal_module.read_history(path).events
    assert (event.node, event.event) == ("a", "SUBMIT")


def test_without_room_tasks_are_stopped_all_the_same(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.job("a")
    folder.job("slow", "until=never")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def note(self: Processes, entry: dict[str, object]) -> None:
        if "ended" in entry:
            full()

    monkeypatch.setattr(Processes, "_note", note)
    monkeypatch.setattr(local.Scheduler, "_child_ended", full)
    with pytest.raises(OSError, match="No space left"):
        folder.run(grace=0.5)
    assert children_named(f"{folder.path}#") == []
