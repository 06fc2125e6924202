"""--bb-fallback pfs under DAGMan and Slurm: the run goes on on the PFS, and says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.process import Finished
from pegasus_bb.runtime.gate import NONE
from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PERSISTENT, PLANNERS, Desk, expected, until
from tests.testbed.site_hands import Site
from tests.testbed.together import Told

pytestmark = [pytest.mark.site]
FALLBACK = (*PERSISTENT, "--bb-fallback", "pfs")


def ran_on_the_pfs(desk: Desk, submit: Path, done: Finished, because: str) -> None:
    assert done.status == 0, done.err
    assert "ON THE PFS, NOT ON A BURST BUFFER" in done.err
    assert because in done.err
    assert desk.content("bb") == expected(jobs=1)
    word = json.loads((submit / "bb" / "storage_decision.json").read_text())
    assert word["prefix"] == str(desk.root / "pfs")
    assert (submit / "bb" / "use.bbf").read_text() == NONE
    status = json.loads(desk.bb("status", "--json", str(submit)).out)
    assert because in status["fallback"]["because"]


def scripts_name_no_buffer(submit_host: Site, name: str) -> None:
    assert not jobs_that_name(submit_host, name)


def jobs_that_name(submit_host: Site, name: str) -> list[str]:
    """As Slurm has them."""
    seen = submit_host.run("root", "scontrol", "show", "job").out
    return [job for job in seen.split("\n\n") if f"persistentdw name={name}" in job]


def is_refused(submit_host: Site, home: Home, planner: str) -> None:
    desk = Desk(home, "fallback-refused", 1, planner)
    submit = desk.planned("bb", *FALLBACK, "--bb-capacity", "2GiB")
    done = desk.run_to_the_end("bb")
    ran_on_the_pfs(desk, submit, done, "pool wlm_pool has 1.0 GiB in all")
    scripts_name_no_buffer(submit_host, desk.reservation("bb"))


def is_held(submit_host: Site, home: Home, planner: str) -> None:
    desk = Desk(home, "fallback-held", 1, planner)
    submit = desk.planned("bb", *FALLBACK)
    said = "says=dwsd: no space left on any server: 507"
    mishaps = submit_host.place.root / "mishaps"
    mishaps.write_text(f"create_persistent token={desk.reservation('bb')} {said}\n")
    try:
        done = desk.run_to_the_end("bb")
    finally:
        mishaps.unlink()
    ran_on_the_pfs(desk, submit, done, "no space left on any server")
    queue = submit_host.run("root", "squeue", "-h", "-o", "%j").out
    assert desk.reservation("bb") not in queue  # the held request was withdrawn


def comes_late(submit_host: Site, home: Home, planner: str) -> None:
    """And comes up in the middle of the run; bb_delete gives it back."""
    desk = Desk(home, "fallback-late", 1, planner)
    submit = desk.planned("bb", *FALLBACK, "--bb-capacity", "900MiB", "--bb-wait", "4s")
    name = desk.reservation("bb")
    run = desk.start("bb")
    until((submit / "bb" / "storage_decision.json").exists, 120)
    submit_host.give_back("other", "filler")
    until(lambda: name in submit_host.buffers(), 120)
    ran_on_the_pfs(desk, submit, run.end(300), "did not come up within 4.0 s")
    assert name not in submit_host.buffers()


def is_somebody_elses(submit_host: Site, home: Home, planner: str) -> None:
    desk = Desk(home, "fallback-stolen", 1, planner)
    submit = desk.planned("bb", *FALLBACK)
    name = desk.reservation("bb")
    submit_host.hold("other", name, 10 << 20)
    ran_on_the_pfs(desk, submit, desk.run_to_the_end("bb"), "belongs to other")
    assert submit_host.buffers()[name].user == "other"
    submit_host.give_back("other", name)


STORIES = (is_refused, is_held, is_somebody_elses, comes_late)


@pytest.mark.parametrize("story", [story.__name__ for story in STORIES])
def test_on_the_pfs_where_it(told: Told, story: str) -> None:
    told[story].result(timeout=500)


@pytest.mark.parametrize("planner", PLANNERS)
def test_on_the_pfs_where_it_vanished_while_the_first_job_waited(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    """Slurm lets that job wait for ever, so DAGMan is ended; the next run goes on."""
    desk = Desk(home, "fallback-vanished", 1, planner)
    submit = desk.planned("bb", *FALLBACK)
    name, nodes = desk.reservation("bb"), submit_host.run("root", "sinfo", "-ho", "%N")
    node = f"nodename={nodes.out.strip()}"
    submit_host.run("root", "scontrol", "update", node, "state=drain", "reason=test")
    try:
        run = desk.start("bb")
        until(lambda: jobs_that_name(submit_host, name), 120)
        submit_host.give_back("wfuser", name)
        done = run.end(180)
    finally:
        submit_host.run("root", "scontrol", "update", node, "state=resume")
    assert done.status == 76, done.err
    assert "the next run goes on on the PFS" in done.err
    assert not (submit / "bb" / "storage_decision.json").exists()
    again = desk.run_to_the_end("bb")
    ran_on_the_pfs(desk, submit, again, "was up and is gone")
