"""What becomes of one node: PRE, job, POST, retries, and how they are started."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.model.dag.nodes import Script
from tests.support.shebang import shebang

from .conftest import Folder


def test_pre_job_and_post_run_in_this_order(folder: Folder) -> None:
    folder.job("a", pre=folder.script("pre"), post=folder.script("post"))
    assert folder.tasks_run() == ["pre", "a", "post"]
    assert [event for _, event in folder.events()] == [
        "PRE_SCRIPT_STARTED",
        "PRE_SCRIPT_TERMINATED",
        "PRE_SCRIPT_SUCCESS",
        "SUBMIT",
        "EXECUTE",
        "JOB_TERMINATED",
        "JOB_SUCCESS",
        "POST_SCRIPT_STARTED",
        "POST_SCRIPT_TERMINATED",
        "POST_SCRIPT_SUCCESS",
    ]


def test_a_failed_pre_fails_the_node_without_job_and_post(folder: Folder) -> None:
    pre = folder.script("pre", "exits=76", "err=held")
    folder.job("a", pre=pre, post=folder.script("post"))
    folder.fails(r"PRE script ended with exit status 76[\s\S]*\| held")
    assert folder.ran() == ["pre"]
    assert "held" in (folder.path / "a.pre.err").read_text()


def test_a_deferring_gate_is_asked_again_until_it_opens(folder: Folder) -> None:
    gate = folder.script("$RETRY", "exits=75,75,75,0", defer=75)
    folder.job("a", pre=gate, retry=2)
    assert folder.tasks_run() == ["0"] * 4 + ["a"], "deferring is no retry"
    started = [event for _, event in folder.events() if event == "PRE_SCRIPT_STARTED"]
    assert len(started) == 1, "polls do not fill the journal"


def test_a_waiting_gate_holds_neither_slot_nor_script_place(folder: Folder) -> None:
    for number in range(12):  # more gates than scripts may run at a time
        gate = Script("task.py", f"gate{number} exits=75,0", 75, 1)
        folder.job(f"late{number}", pre=gate)
    folder.job("free", pre=folder.script("pre"))
    folder.run(slots=1)
    ran = folder.ran()
    assert ran.index("free") < ran.index("late0"), "it did not wait behind the gates"
    assert folder.times()["gate11"] == 2


def test_a_gate_killed_by_a_signal_has_not_opened(folder: Folder) -> None:
    # DAGMan reads a killed script as status 0: with DEFER 0 it would ask for ever.
    folder.job("a", pre=folder.script("gate", "kill=9", defer=0))
    folder.fails("PRE script ended with signal 9")
    assert folder.ran() == ["gate"]


def test_a_pre_script_may_write_the_submit_file(folder: Folder) -> None:
    folder.job("a")
    (folder.path / "a.sub").rename(folder.path / "ready.sub")
    mover = folder.path / "mover"
    mover.write_text(f"{shebang()}\nimport os\nos.rename('ready.sub','a.sub')")
    mover.chmod(0o755)
    folder.dag.nodes["a"].pre = Script("mover")
    assert folder.tasks_run() == ["a"]


@pytest.mark.parametrize(
    ("pre", "job", "post", "fields", "ran"),
    [
        ("pre exits=4", "a", "", {"pre_skip": 4}, "pre"),
        ("", "a exits=3", "post", {}, "a post"),
        ("", "a exits=3", "$RETURN", {}, "a 3"),
        ("", "a kill=9", "$RETURN", {}, "a -9"),
        ("pre", "a", "post", {"noop": True}, "pre post"),
        ("pre", "a exits=1,0", "post exits=1,0", {"retry": 2}, "pre a post " * 2),
    ],
    ids=["skipped", "forgiven", "status", "signal", "noop", "retried"],
)
def test_the_parts_of_a_node_that_ends_well(
    folder: Folder, pre: str, job: str, post: str, fields: dict[str, Any], ran: str
) -> None:
    scripts = {"pre": pre, "post": post}
    made = {kind: folder.script(text) for kind, text in scripts.items() if text}
    folder.job(*job.split(), **made, **fields)
    folder.job("b")
    folder.chain("a", "b")
    assert folder.tasks_run() == [*ran.split(), "b"]


def test_unless_exit_ends_retrying(folder: Folder) -> None:
    folder.job("a", "exits=1,42,0", retry=9, unless_exit=42)
    folder.fails()
    assert folder.times()["a"] == 2


def test_post_may_defer_too(folder: Folder) -> None:
    folder.job("a", post=folder.script("post", "exits=4,0", defer=4))
    assert folder.tasks_run() == ["a", "post", "post"]


def test_post_decides_and_may_refuse(folder: Folder) -> None:
    folder.job("a", post=folder.script("post", "exits=1", "err=incomplete"))
    folder.fails(r"POST script ended with exit status 1[\s\S]*\| incomplete")


def test_each_call_gives_all_retries_again(folder: Folder) -> None:
    folder.job("a", "exits=1", retry=1)
    for times in (2, 4):
        folder.fails()
        assert folder.times()["a"] == times


def test_a_done_node_is_not_run(folder: Folder) -> None:
    folder.job("a", done=True)
    folder.job("b")
    folder.chain("a", "b")
    assert folder.run().done_before == 1
    assert folder.ran() == ["b"]


def test_abort_ends_what_runs_and_writes_a_rescue_file(folder: Folder) -> None:
    folder.job("long", "until=never", "ready=long-is-up")
    folder.job("bad", "exits=9", "until=long-is-up", abort_on=(9, 3), retry=5)
    folder.job("never")
    folder.chain("long", "never")
    folder.fails("aborted")
    assert folder.times() == {"long": 1, "long-is-up": 1, "bad": 1}
    assert "long ends" not in folder.noted()
    assert folder.rescues() == ["w.dag.rescue001"]
    assert "DAGMAN_FINISHED 3 ***" in (folder.path / "jobstate.log").read_text()


def test_abort_may_mean_success_and_the_rest_can_be_done(folder: Folder) -> None:
    folder.job("first")
    folder.job("enough", "exits=9,0", abort_on=(9, 0))
    folder.job("then")
    folder.chain("first", "enough", "then")
    done = folder.command("run", str(folder.write()))
    assert done.returncode == 0
    assert "1 of 3 nodes are done" in done.stderr
    assert "all 3" not in done.stderr
    assert "DAGMAN_FINISHED 0 ***" in (folder.path / "jobstate.log").read_text()
    assert folder.rescues() == ["w.dag.rescue001"]
    again = folder.run()
    assert (again.done_before, again.done, again.rescue) == (1, 3, None)
    assert folder.times() == {"first": 1, "enough": 2, "then": 1}
