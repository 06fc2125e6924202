"""Reservations that come, or vanish, while their run waits: what the gate says then is
the same for every backend, so one plugin of Slurm will do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pegasus_bb_testbed.home import Home

from testbed.tests.slurm_site import ON_SECOND, SlurmSite
from testbed.tests.test_site_reservations import (
    FALLBACK,
    check_ran_on_pfs,
    jobs_that_name,
    start,
)
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_SECOND]


@contextmanager
def drained(submit_host: SlurmSite) -> Iterator[None]:
    """No job starts meanwhile."""
    node = submit_host.run("root", "sinfo", "-ho", "%N").out.strip()
    update = ("scontrol", "update", f"nodename={node}")
    submit_host.run("root", *update, "state=drain", "reason=test")
    try:
        yield
    finally:
        submit_host.run("root", *update, "state=resume")


def test_a_reservation_that_vanishes_while_the_first_job_waits(
    submit_host: SlurmSite, home: Home, planners: None
) -> None:
    """Slurm lets that job wait for ever, so DAGMan is ended; the next run goes on."""
    quick = ("--bb-poll", "1s")  # it has to be missing three times, 6 polls apart
    runner = start(home, "fallback-vanished", "builtin", *FALLBACK, *quick)
    name = runner.reservation("bb")
    with drained(submit_host):
        run = runner.start("bb")
        until(lambda: jobs_that_name(submit_host, name))
        submit_host.give_back("wfuser", name)
        done = run.end()
    assert done.status == 76, done.err
    assert "the next run is on the PFS" in done.err
    assert not (runner.submit_dir("bb") / "bb" / "storage_decision.json").exists()
    done = runner.run_to_the_end("bb", "--engine", "local")  # a minute less
    check_ran_on_pfs(runner, done, "was up and is gone")
