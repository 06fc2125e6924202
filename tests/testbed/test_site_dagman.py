"""Workflows on the testbed: pegasus-bb run, real DAGMan, blahp, Slurm and DataWarp."""

from __future__ import annotations

import pytest

from pegasus_bb.engine.journal import read_history
from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import Desk, expected, until
from tests.testbed.site_hands import Site

pytestmark = [pytest.mark.site, pytest.mark.slow]
PERSISTENT = ("--bb-mode", "persistent", "--cleanup", "none")


def test_a_task_that_fails_halfway_keeps_the_data_and_goes_on_later(
    submit_host: Site, home: Home
) -> None:
    desk = Desk(home, "halfway", jobs=2)
    submit = desk.planned("bb", *PERSISTENT)
    name = desk.reservation("bb")
    desk.trouble.write_text("b.dat")
    failed = desk.run_to_the_end("bb")
    assert failed.status == 80, failed.err
    assert "mix_B: record 1 says that its task failed (exit code 1)" in failed.err
    assert "| mix: the disk on my desk is full" in failed.err
    assert "rescue file: diamond-0.dag.rescue001" in failed.err
    assert name in submit_host.buffers()  # with what mix_A has written there
    assert "stopped; pegasus-bb run goes on" in desk.bb("status", str(submit)).out

    desk.trouble.unlink()
    before = read_history(submit / "jobstate.log").events
    mended = desk.run_to_the_end("bb")
    assert mended.status == 0, mended.err
    again = read_history(submit / "jobstate.log").events[len(before) :]
    ran = {event.node for event in again if event.event == "SUBMIT"}
    assert "mix_A" not in ran
    assert "mix_B" in ran
    assert desk.content("bb") == expected(jobs=2)
    assert name not in submit_host.buffers()


def test_a_run_outlives_its_terminal_and_is_stopped_with_condor_rm(
    submit_host: Site, home: Home
) -> None:
    desk = Desk(home, "stopped", jobs=1)
    submit = desk.planned("bb", *PERSISTENT)
    submit_host.hold("other", "filler", 1024 << 20)
    first = desk.start("bb")
    until((submit / "bb" / "gate.json").exists)
    status = until(lambda: shows(desk, "bb", "deferred"))
    assert "running (DAGMan, job " in status
    assert "the gate has waited" in status
    submit_host.run("wfuser", "pkill", "-INT", "-f", f"pegasus_bb run {submit}$")
    left = first.end(30)
    assert left.status == 130
    assert "the workflow goes on under DAGMan, job " in left.err
    number = left.err.split("condor_rm ")[1].split()[0]

    refused = desk.run_to_the_end("bb", "--engine", "local")
    assert refused.status == 2
    assert f"DAGMan works on it as job {number}" in refused.err
    refused = desk.run_to_the_end("bb", "--restart")
    assert refused.status == 2

    again = desk.start("bb")
    desk.ask("condor_hold", number)
    until(lambda: shows(desk, "bb", f"job {number}, held: via condor_hold"))
    desk.ask("condor_release", number)
    submit_host.give_back("other", "filler")
    until(lambda: " mix_A SUBMIT " in (submit / "jobstate.log").read_text())
    assert desk.ask("condor_rm", number).status == 0
    stopped = again.end(60)
    assert stopped.status == 130, stopped.err
    assert f"engine: dagman (it works on it already, as job {number})" in stopped.err
    assert "DAGMan is held: via condor_hold" in stopped.err
    assert "was removed (via condor_rm (by user wfuser))" in stopped.err
    assert "rescue file: diamond-0.dag.rescue001" in stopped.err

    done = desk.run_to_the_end("bb")
    assert done.status == 0, done.err
    assert desk.content("bb") == expected(jobs=1)
    assert desk.reservation("bb") not in submit_host.buffers()


def shows(desk: Desk, run: str, words: str) -> str:
    """The answer of ``status``, once ``words`` are in it."""
    said = str(desk.bb("status", str(desk.submit_dir(run))).out)
    return said if words in said else ""
