"""A run under real DAGMan and the people around it: they leave, hold, stop, go on."""

from __future__ import annotations

import pytest

from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PERSISTENT, Desk, expected, until
from tests.testbed.site_hands import Site

pytestmark = [pytest.mark.site, pytest.mark.slow]


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
