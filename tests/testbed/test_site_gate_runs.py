"""What a run under DAGMan comes to when its reservation does not come as asked."""

from __future__ import annotations

import pytest

from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PERSISTENT, Desk, until
from tests.testbed.site_hands import Site

pytestmark = [pytest.mark.site, pytest.mark.slow]


def test_a_reservation_that_is_held_ends_the_run_with_the_words_of_datawarp(
    submit_host: Site, home: Home
) -> None:
    desk = Desk(home, "held", jobs=1)
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


def test_more_than_the_pool_has_ends_the_run(submit_host: Site, home: Home) -> None:
    desk = Desk(home, "large", jobs=1)
    desk.planned("bb", *PERSISTENT, "--bb-capacity", "2GiB")
    done = desk.run_to_the_end("bb")
    assert done.status == 80, done.err
    assert "asks for 2.0 GiB; pool wlm_pool has 1.0 GiB in all" in done.err


def test_a_reservation_that_comes_too_late_is_not_waited_for_for_ever(
    submit_host: Site, home: Home
) -> None:
    desk = Desk(home, "late", jobs=1)
    desk.planned("bb", *PERSISTENT, "--bb-wait", "6s")
    submit_host.hold("other", "filler", 1024 << 20)
    too_late = desk.run_to_the_end("bb")
    assert too_late.status == 80, too_late.err
    assert "create_dir_diamond_0_cluster waits: waiting for the burst" in too_late.err
    assert "did not come up within 6.0 s" in too_late.err


def test_a_reservation_of_somebody_else_is_never_used(
    submit_host: Site, home: Home
) -> None:
    desk = Desk(home, "stolen", jobs=1)
    desk.planned("bb", *PERSISTENT)
    name = desk.reservation("bb")
    submit_host.hold("other", name, 10 << 20)
    done = desk.run_to_the_end("bb")
    assert done.status == 80, done.err
    assert "bb_setup_BB0000001" in done.err
    assert "other" in done.err
    assert name in submit_host.buffers()
    submit_host.give_back("other", name)


def test_a_reservation_that_vanishes_ends_the_run_and_says_so(
    submit_host: Site, home: Home
) -> None:
    desk = Desk(home, "vanished", jobs=1)
    submit = desk.planned("bb", *PERSISTENT)
    name, journal = desk.reservation("bb"), submit / "jobstate.log"
    run = desk.start("bb")
    made = " create_dir_diamond_0_cluster POST_SCRIPT_SUCCESS "
    until(lambda: journal.exists() and made in journal.read_text())
    submit_host.give_back("wfuser", name)
    done = run.end(180)
    assert done.status == 76, done.err
    assert f"reservation {name} was up and is not there any more" in done.err
    again = desk.run_to_the_end("bb")
    assert again.status == 76, again.err
    assert "is not there any more" in again.err
    assert "--restart" in again.err
