"""The controller of Slurm goes away, and comes back."""

from __future__ import annotations

import time

import pytest
from pegasus_bb_testbed import site
from pegasus_bb_testbed.home import Home

from testbed.tests.slurm_site import ON_SECOND, SlurmSite
from testbed.tests.workflow_runner import PERSISTENT, WorkflowRunner, expected
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_SECOND]
SLOW = 60  # seconds that the task takes while its file says so


def test_a_run_lives_through_an_outage_while_it_waits_and_while_it_runs(
    submit_host: SlurmSite, home: Home
) -> None:
    """In the second one blahp calls the running task ended, and its node is tried
    again: the two must not work on the same files at the same time."""
    runner = WorkflowRunner(home, "outage", 1)
    slow = runner.root / "slow"
    slow.touch()
    task = runner.root / "mix.py"
    nap = f"time.sleep({SLOW} if os.path.exists({str(slow)!r}) else 0)"
    task.write_text(task.read_text().replace("time.sleep(0.02)", nap))
    submit = runner.planned("bb", *PERSISTENT)
    journal = submit / "jobstate.log"
    submit_host.hold("other", "filler", 1024 << 20)
    run = runner.start("bb")
    until((submit / "bb" / "gate.json").exists)
    goes_away(home, 6.0)
    assert "PRE_SCRIPT_FAILURE" not in journal.read_text()
    submit_host.give_back("other", "filler")

    note = submit / "bb" / "running" / "mix_A"
    first = until(lambda: note.exists() and note.read_text())
    until(lambda: " mix_A EXECUTE " in journal.read_text())
    slow.unlink()  # the next one is quick
    goes_away(home, 25.0)
    done = run.end(240)
    assert done.status == 0, done.err
    assert runner.content("bb") == expected(jobs=1)
    assert runner.reservation("bb") not in submit_host.buffers()
    if "mix_A: failed, tried again" in done.err:  # blahp's squeue may have waited on
        errors = "".join(f.read_text() for f in submit.glob("00/00/mix_A.err.*"))
        assert f"launch: waits for job {first} of this node" in errors


def goes_away(home: Home, seconds: float) -> None:
    site.stop_controller(home)
    time.sleep(seconds)
    site.start_controller(home)
