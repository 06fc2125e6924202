"""Ctrl-C, SIGTERM, a second engine: a run stops cleanly and goes on later."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pegasus_bb.engine.journal import Journal
from pegasus_bb.errors import UsageError

from .conftest import Folder, children_named
from .test_resume import DIAMOND, diamond


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_cleanly_and_a_second_run_goes_on(
    folder: Folder, number: int
) -> None:
    diamond(folder, stops_at="b")
    engine = folder.start()
    folder.wait_for("b-is-up")
    folder.wait_for("post-c")
    folder.wait_for_event("c", "POST_SCRIPT_SUCCESS")
    engine.send_signal(number)
    _, text = engine.communicate(timeout=120)
    assert engine.returncode == 130
    assert "stopped: 2 of 4 nodes are done, 0 failed" in text
    assert "to go on:    pegasus-bb run" in text
    assert children_named(f"_PEGASUS_BB_NODE={folder.path}#") == []
    assert ("b", "JOB_ABORTED") in folder.events()
    assert folder.rescues() == ["w.dag.rescue001"]
    (folder.path / "go").touch()
    assert folder.run().done_before == 2
    assert [folder.times()[name] for name in DIAMOND] == [1, 2, 1, 1]


def test_who_is_deaf_to_sigterm_gets_sigkill(folder: Folder) -> None:
    folder.job("a", "until=never", "deaf=1", "ready=up")
    folder.write()
    code = (
        "import sys; from pathlib import Path; from pegasus_bb.engine import run\n"
        "run(Path(sys.argv[1]), grace=0.1)"
    )
    engine = subprocess.Popen(
        [sys.executable, "-c", code, str(folder.path)], stderr=subprocess.DEVNULL
    )
    folder.wait_for("up")
    engine.send_signal(signal.SIGTERM)
    assert engine.wait(timeout=120) == 1  # RunInterrupted, which nobody caught
    assert children_named(f"_PEGASUS_BB_NODE={folder.path}#") == []


def test_a_second_ctrl_c_does_not_wait(folder: Folder) -> None:
    folder.job("a", "until=never", "deaf=1", "ready=up")
    engine = folder.start()
    folder.wait_for("up")
    engine.send_signal(signal.SIGINT)
    time.sleep(0.2)  # it waits ten seconds for the deaf one
    assert engine.poll() is None
    started = time.monotonic()
    engine.send_signal(signal.SIGINT)
    engine.communicate(timeout=120)
    assert engine.returncode == 130
    assert time.monotonic() - started < 9  # a deaf one has ten


def test_a_waiting_gate_can_be_stopped(folder: Folder) -> None:
    gate = folder.script("gate", "exits=75", defer=75)
    gate.defer_time = 60
    folder.job("a", pre=gate)
    engine = folder.start()
    folder.wait_for("gate")
    time.sleep(0.1)  # until it sleeps
    engine.send_signal(signal.SIGINT)
    engine.communicate(timeout=120)
    assert engine.returncode == 130
    assert folder.ran() == ["gate"]


# --- two engines ---


def test_a_second_engine_is_refused_by_name_of_the_first(folder: Folder) -> None:
    folder.job("a", "until=go", "ready=up")
    engine = folder.start()
    folder.wait_for("up")
    with pytest.raises(UsageError, match=f"pid {engine.pid} on host"):
        folder.run()
    (folder.path / "go").touch()
    assert engine.wait(timeout=120) == 0
    engine.communicate()
    assert folder.times()["a"] == 1


def test_a_folder_that_is_no_submit_directory(tmp_path: Path, folder: Folder) -> None:
    from pegasus_bb.engine import run

    with pytest.raises(UsageError, match="not a folder"):
        run(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="found: none"):
        run(folder.path)
    (folder.path / "one.dag").touch()
    (folder.path / "two.dag").touch()
    with pytest.raises(UsageError, match=r"one\.dag, two\.dag"):
        run(folder.path)


def test_a_journal_that_cannot_be_written_leaves_no_task_behind(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.job("a", "until=go", "ready=up")
    folder.job("b", "until=up", submit="universe = local")
    flush = Journal.flush

    def full(journal: Journal) -> None:
        if (folder.path / "up").exists():
            raise OSError(28, "No space left on device")
        flush(journal)

    monkeypatch.setattr(Journal, "flush", full)
    with pytest.raises(OSError, match="No space left"):
        folder.run()
    running = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline")]
    assert not [line for line in running if str(folder.path).encode() in line]
