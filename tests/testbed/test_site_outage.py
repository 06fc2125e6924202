"""The controller of Slurm goes away, and comes back."""

from __future__ import annotations

import time

import pytest

from pegasus_bb.testbed import site
from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PERSISTENT, Desk, expected, until
from tests.testbed.site_hands import Site

pytestmark = [pytest.mark.site, pytest.mark.slow]
AWAY = 6.0  # seconds


def test_a_run_lives_through_an_outage_while_it_waits_and_while_it_runs(
    submit_host: Site, home: Home
) -> None:
    desk = Desk(home, "outage", jobs=1)
    submit = desk.planned("bb", *PERSISTENT)
    journal = submit / "jobstate.log"
    submit_host.hold("other", "filler", 1024 << 20)
    run = desk.start("bb")
    until((submit / "bb" / "gate.json").exists)
    goes_away(home)
    assert "PRE_SCRIPT_FAILURE" not in journal.read_text()
    submit_host.give_back("other", "filler")

    until(lambda: " mix_A GRID_SUBMIT " in journal.read_text())
    goes_away(home)
    done = run.end(240)
    assert done.status == 0, done.err
    assert desk.content("bb") == expected(jobs=1)
    assert desk.reservation("bb") not in submit_host.buffers()


def goes_away(home: Home) -> None:
    site.stop_controller(home)
    time.sleep(AWAY)
    site.start_controller(home)
