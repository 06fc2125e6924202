"""Runs under DAGMan whose reservations do not come as asked, all at the same time."""

from __future__ import annotations

import pytest

from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PERSISTENT, PLANNERS, Desk, expected, until
from tests.testbed.site_hands import Site
from tests.testbed.together import Told

pytestmark = [pytest.mark.site]


def is_held(submit_host: Site, home: Home, planner: str) -> None:
    desk = Desk(home, "held", 1, planner)
    submit = desk.planned("bb", *PERSISTENT)
    said = "says=dwsd: no space left on any server: 507"
    mishaps = submit_host.place.root / "mishaps"
    mishaps.write_text(f"create_persistent token={desk.reservation('bb')} {said}\n")
    try:
        done = desk.run_to_the_end("bb")
    finally:
        mishaps.unlink()
    assert done.status == 80, done.err
    assert "no space left on any server" in done.err
    assert "create_dir_diamond_0_cluster: its PRE script" in done.err
    assert "no space" in (submit / "bb" / "gate.err").read_text()


def is_larger_than_the_pool(submit_host: Site, home: Home, planner: str) -> None:
    desk = Desk(home, "large", 1, planner)
    desk.planned("bb", *PERSISTENT, "--bb-capacity", "2GiB")
    done = desk.run_to_the_end("bb")
    assert done.status == 80, done.err
    assert "asks for 2.0 GiB; pool wlm_pool has 1.0 GiB in all" in done.err


def is_somebody_elses(submit_host: Site, home: Home, planner: str) -> None:
    desk = Desk(home, "stolen", 1, planner)
    desk.planned("bb", *PERSISTENT)
    name = desk.reservation("bb")
    submit_host.hold("other", name, 10 << 20)
    done = desk.run_to_the_end("bb")
    assert done.status == 80, done.err
    assert "bb_setup_BB0000001" in done.err
    assert "other" in done.err
    assert name in submit_host.buffers()
    submit_host.give_back("other", name)


def vanishes(submit_host: Site, home: Home, planner: str) -> None:
    desk = Desk(home, "vanished", 1, planner)
    submit = desk.planned("bb", *PERSISTENT)
    name, journal = desk.reservation("bb"), submit / "jobstate.log"
    run = desk.start("bb")
    made = " create_dir_diamond_0_cluster POST_SCRIPT_SUCCESS "
    until(lambda: journal.exists() and made in journal.read_text(), 120)
    submit_host.give_back("wfuser", name)
    done = run.end(180)
    assert done.status == 76, done.err
    assert f"reservation {name} was up and is not there any more" in done.err
    again = desk.run_to_the_end("bb")
    assert again.status == 76, again.err
    assert "is not there any more" in again.err
    assert "--restart" in again.err


def comes_late(submit_host: Site, home: Home, planner: str) -> None:
    desk = Desk(home, "stopped", 1, planner)
    submit = desk.planned("bb", *PERSISTENT, "--bb-capacity", "900MiB")
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
    again.until(lambda: f"it works on it already, as job {number}" in again.said())
    desk.ask("condor_hold", number)
    until(lambda: shows(desk, "bb", f"job {number}, held: via condor_hold"))
    again.until(lambda: "DAGMan is held: via condor_hold" in again.said())
    desk.ask("condor_release", number)
    submit_host.give_back("other", "filler")
    until(lambda: " mix_A SUBMIT " in (submit / "jobstate.log").read_text())
    assert desk.ask("condor_rm", number).status == 0
    stopped = again.end(60)
    assert stopped.status == 130, stopped.err
    assert f"engine: dagman (it works on it already, as job {number})" in stopped.err
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


STORIES = (is_held, is_larger_than_the_pool, is_somebody_elses, vanishes, comes_late)


@pytest.mark.parametrize("story", [story.__name__ for story in STORIES])
def test_a_reservation_that(told: Told, story: str) -> None:
    told[story].result(timeout=400)


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_reservation_that_comes_too_late_is_not_waited_for_for_ever(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    desk = Desk(home, "late", 1, planner)
    desk.planned("bb", *PERSISTENT, "--bb-wait", "6s")
    submit_host.hold("other", "filler", 1024 << 20)
    too_late = desk.run_to_the_end("bb")
    assert too_late.status == 80, too_late.err
    assert "create_dir_diamond_0_cluster waits: waiting for the burst" in too_late.err
    assert "did not come up within 6.0 s" in too_late.err
