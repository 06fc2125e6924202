"""A signal, a second engine, no room: a run stops cleanly and goes on later."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.run.inventory.run_state import STOPPED, run_state

from .conftest import Folder, children_named
from .test_resume import DIAMOND, diamond


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_cleanly_and_it_can_go_on(folder: Folder, number: int) -> None:
    diamond(folder, stops_at="b")
    engine = folder.start(until="b-is-up")
    folder.wait_for("post-c")
    folder.wait_for_event("c", "POST_SCRIPT_SUCCESS")
    engine.send_signal(number)
    assert engine.wait() == 130
    text = folder.errors.read_text()
    assert "stopped: 2 of 4 nodes are done, 0 failed" in text
    assert "to continue: pegasus-bb run" in text
    assert children_named(f"_PEGASUS_BB_NODE={folder.path}#") == []
    assert ("b", "JOB_ABORTED") in folder.events()
    assert folder.rescues() == ["w.dag.rescue001"]
    assert run_state(folder.path) == (STOPPED, "")
    (folder.path / "go").touch()
    assert folder.run().done_before == 2
    assert [folder.times()[name] for name in DIAMOND] == [1, 2, 1, 1]


def test_who_is_deaf_to_sigterm_gets_sigkill(folder: Folder) -> None:
    folder.job("a", "until=never", "deaf=1", "ready=up")
    run = "from pathlib import Path; from pegasus_bb.run.engine.local import run"
    code = f"{run}; run(Path({str(folder.write())!r}), grace=0.1)"
    argv = [sys.executable, "-c", code]
    engine = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    folder.wait_for("up")
    engine.send_signal(signal.SIGTERM)
    assert engine.wait(timeout=120) == 1  # RunInterrupted, not caught
    assert children_named(f"_PEGASUS_BB_NODE={folder.path}#") == []


def test_a_second_engine_is_refused_by_name_of_the_first(folder: Folder) -> None:
    folder.job("a", "until=go", "ready=up")
    engine = folder.start(until="up")
    with pytest.raises(UsageError, match=f"pid {engine.pid} on host"):
        folder.run()
    folder.finish(engine)
    assert folder.times()["a"] == 1


def limited(folder: Folder, limit: int, size: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pegasus_bb", "run", str(folder.write())],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(limit, (size, size)),
    )


def test_a_journal_that_cannot_grow(folder: Folder) -> None:
    for name in "abcd":
        folder.job(name)
    folder.chain(*"abcd")
    done = limited(folder, resource.RLIMIT_FSIZE, 500)
    assert (done.returncode, "Traceback" in done.stderr) == (80, False), done.stderr
    assert f"pegasus-bb run {folder.path}" in done.stderr
    assert children_named(f"{folder.path}#") == []
    assert folder.run().done == 4
