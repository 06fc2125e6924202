"""What becomes of one node: PRE, job, POST, retries, and how they are started."""

from __future__ import annotations

from pegasus_bb.model.dag.nodes import Script

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
