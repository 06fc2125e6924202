"""Failures, rescue files, kill -9, Ctrl-C: a second run goes on, nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.run.engine.processes import Processes, start_time

from .conftest import Folder, alive

DIAMOND = ("a", "b", "c", "d")


def diamond(folder: Folder, stops_at: str = "", **fields: object) -> None:
    """a, then b and c, then d; ``stops_at`` waits until the file `go` is there."""
    for name in DIAMOND:
        words = ("until=go", f"ready={name}-is-up") if name == stops_at else ()
        pre = folder.script(f"pre-{name}")
        post = folder.script(f"post-{name}")
        folder.job(name, *words, pre=pre, post=post, **fields)
    folder.chain("a", "b", "d")
    folder.chain("a", "c", "d")


def test_all_that_can_still_run_runs(folder: Folder) -> None:
    diamond(folder)
    folder.job("bad", "exits=1", "err=disk full")
    folder.job("futile")
    folder.chain("bad", "futile")
    folder.chain("futile", "d")
    text = folder.fails()
    assert {"a", "b", "c", "bad"} == set(folder.ran()) & {*DIAMOND, "bad", "futile"}
    assert "3 of 6 nodes are done, 1 failed, 2 did not finish" in text
    assert "bad: the job ended with exit status 1" in text
    assert "/bad.err" in text and "| disk full" in text
    assert f"pegasus-bb run {folder.path}" in text


def test_the_rescue_file_is_dagmans(folder: Folder) -> None:
    folder.job("a", retry=2, unless_exit=7)
    folder.job("b", "exits=1", retry=0)
    folder.chain("a", "b")
    folder.fails()
    lines = (folder.path / "w.dag.rescue001").read_text().splitlines()
    assert lines[:2] == [
        "# Rescue DAG file, created after running",
        "#   the w.dag DAG file",
    ]
    assert lines[2].startswith("# Created ") and lines[2].endswith(" UTC")
    assert lines[3:] == [
        "# Rescue DAG version: 2.0.1 (partial)",
        "#",
        "# Total number of Nodes: 2",
        "# Nodes premarked DONE: 1",
        "# Nodes that failed: 1",
        "#   b,<ENDLIST>",
        "",
        "DONE a",
        "RETRY a 2 UNLESS-EXIT 7",
    ]


def test_rescue_files_are_numbered_and_the_newest_counts(folder: Folder) -> None:
    folder.steps("a", "b exits=1,1,0")
    for _ in range(2):
        folder.fails()
    assert folder.rescues() == ["w.dag.rescue001", "w.dag.rescue002"]
    # As with DAGMan, a user may take a DONE out: that node runs again.
    newest = folder.path / "w.dag.rescue002"
    newest.write_text(newest.read_text().replace("DONE a\n", ""))
    folder.run()
    assert folder.times() == {"a": 2, "b": 3}


def test_a_rescue_file_of_another_dag_is_refused(folder: Folder) -> None:
    folder.job("a")
    folder.write()
    (folder.path / "w.dag.rescue001").write_text("DONE stranger\n")
    with pytest.raises(CatalogError, match=r"rescue001:1[\s\S]*stranger"):
        folder.run()


@pytest.mark.parametrize("node", ["b", "d"])
def test_the_engine_is_killed_while_a_node_runs(folder: Folder, node: str) -> None:
    diamond(folder, stops_at=node)
    folder.start_and_kill(until=f"{node}-is-up")
    done = {name for name, event in folder.events() if event == "POST_SCRIPT_SUCCESS"}
    (folder.path / "go").touch()
    assert folder.run().done_before == len(done)
    assert node not in done and folder.times()[node] == 2
    for name in done:
        assert folder.times()[name] == 1, "a node that was done is not run again"
    assert {f"post-{name}" for name in DIAMOND} <= set(folder.ran())
    for name in DIAMOND:
        assert (folder.path / f"{name}.out").read_text() == f"output of {name}\n"


def test_a_process_of_a_dying_engine_is_found_by_its_mark(folder: Folder) -> None:
    """The engine has written that it starts a process, but not which one it became."""
    folder.job("a")
    mark = f"{folder.path}#a#1#job"
    orphan = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"],
        env={**os.environ, Processes.VARIABLE: mark},
        start_new_session=True,
    )
    processes = Processes(folder.path / "engine.jsonl")
    processes.starting(mark)
    processes.close()
    folder.run()
    assert orphan.wait(timeout=120) == -signal.SIGKILL


@pytest.mark.parametrize("rebooted", [True, False], ids=["reboot", "number reused"])
def test_another_process_is_left_alone(folder: Folder, rebooted: bool) -> None:
    folder.job("a")
    innocent = subprocess.Popen(["sleep", "60"])
    try:
        start = start_time(innocent.pid)
        notes = folder.path / "engine.jsonl"
        if rebooted:
            notes.write_text('{"boot": "another", "engine": 1}\n')
        else:
            Processes(notes).close()
            start -= 100
        with notes.open("a") as out:
            entry = {"mark": "x#a#1#job", "pid": innocent.pid, "start": start}
            out.write(json.dumps(entry) + "\n")
        folder.run()
        assert alive(innocent.pid)
    finally:
        innocent.kill()
        innocent.wait()


def test_what_was_left_on_another_host_is_not_forgotten(folder: Folder) -> None:
    folder.job("a")
    lines = [{"boot": "x", "host": "elsewhere", "engine": 1}, {"starting": "x#a#1#job"}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder.path / "engine.jsonl").write_text(text)
    folder.fails("run on elsewhere")
    assert folder.ran() == []


def test_a_torn_line_of_the_journal_costs_only_itself(folder: Folder) -> None:
    folder.steps("a", "b")
    folder.write()
    (folder.path / "jobstate.log").write_text(
        "1700000000 INTERNAL *** DAGMAN_STARTED 9.0 ***\n"
        "1700000001 a JOB_SUCCESS 0 - - 1\n"
        "1700000002 b JOB_SUCC"
    )
    assert folder.run().done_before == 1
    assert folder.ran() == ["b"]
    lines = (folder.path / "jobstate.log").read_text().splitlines()
    assert lines[2] == "1700000002 b JOB_SUCC"
    assert lines[3].split()[3:5] == ["DAGMAN_STARTED", f"{os.getpid()}.0"]
