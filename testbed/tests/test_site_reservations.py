"""Runs under DAGMan whose reservations do not come as asked, side by side: each fails
and says why, or with --bb-fallback pfs goes on on the PFS.

Only Slurm with DataWarp holds a request that it has taken (``is_held``): the service
behind burst_buffer/lua refuses it at once, or lets it wait for room.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from pegasus_bb_testbed.home import Home

from pegasus_bb.core.process import Finished
from pegasus_bb.runtime.programs.gate import NONE
from testbed.tests.conftest import site_of
from testbed.tests.lua_site import ON_EACH_PLUGIN
from testbed.tests.slurm_site import SlurmSite
from testbed.tests.workflow_runner import PERSISTENT, PLANNERS, WorkflowRunner, expected
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_EACH_PLUGIN]
FALLBACK = (*PERSISTENT, "--bb-fallback", "pfs")
POOLS = {"datawarp": "wlm_pool", "lua": "flash"}
USES = {"datawarp": "persistentdw name=", "lua": "persist use "}
NO_SPACE = "dwsd: no space left on any server: 507"


def start(home: Home, name: str, planner: str, *words: str) -> WorkflowRunner:
    runner = WorkflowRunner(home, name, 1, planner)
    runner.planned("bb", *(words or PERSISTENT))
    return runner


def check_failed(done: Finished, *words: str) -> None:
    assert done.status == 80, done.err
    assert [word for word in words if word not in done.err] == [], done.err


def check_ran_on_pfs(runner: WorkflowRunner, done: Finished, because: str) -> None:
    bb = runner.submit_dir("bb") / "bb"
    assert done.status == 0, done.err
    assert "ON THE PFS, NOT ON A BURST BUFFER" in done.err
    assert because in done.err
    assert runner.content("bb") == expected(jobs=1)
    decision = json.loads((bb / "storage_decision.json").read_text())
    assert decision["prefix"] == str(runner.root / "pfs")
    assert (bb / "use.bbf").read_text() == NONE
    status = json.loads(runner.bb("status", "--json", str(bb.parent)).out)
    assert because in status["fallback"]["because"]


def jobs_that_name(submit_host: SlurmSite, name: str) -> list[str]:
    jobs = submit_host.run("root", "scontrol", "show", "job").out.split("\n\n")
    use = USES[submit_host.home.flavour.plugin] + name
    return [job for job in jobs if use in job]


# -- side by side, while another user has all but 24 MiB


def is_held(submit_host: SlurmSite, home: Home, planner: str) -> None:
    """Two runs, since the file of injected faults is one for all."""
    failing = start(home, "held", planner)
    falling = start(home, "fallback-held", planner, *FALLBACK)
    lines = (
        f"create_persistent token={runner.reservation('bb')} says={NO_SPACE}\n"
        for runner in (failing, falling)
    )
    with submit_host.injected("".join(lines)):
        fails = failing.start("bb")
        falls = falling.start("bb")
        failed = fails.end()
        done = falls.end()
    check_failed(failed, NO_SPACE, "create_dir_diamond_0_cluster: its PRE script")
    assert NO_SPACE in (failing.submit_dir("bb") / "bb" / "gate.err").read_text()
    check_ran_on_pfs(falling, done, NO_SPACE)
    queue = submit_host.run("root", "squeue", "-h", "-o", "%j").out
    assert falling.reservation("bb") not in queue  # the held request was withdrawn


def is_larger_than_the_pool(submit_host: SlurmSite, home: Home, planner: str) -> None:
    too_large = ("--bb-capacity", "2GiB")
    pool = POOLS[home.flavour.plugin]
    because = f"pool {pool} has 1.0 GiB in all"
    failing = start(home, "large", planner, *PERSISTENT, *too_large)
    falling = start(home, "fallback-large", planner, *FALLBACK, *too_large)
    fails = failing.start("bb")
    falls = falling.start("bb")
    check_failed(fails.end(), f"asks for 2.0 GiB; {because}")
    check_ran_on_pfs(falling, falls.end(), because)
    assert not jobs_that_name(submit_host, falling.reservation("bb"))


def belongs_to_another_user(submit_host: SlurmSite, home: Home, planner: str) -> None:
    failing = start(home, "stolen", planner)
    falling = start(home, "fallback-stolen", planner, *FALLBACK)
    names = [runner.reservation("bb") for runner in (failing, falling)]
    for name in names:
        submit_host.hold("other", name, 5 << 20)
    fails = failing.start("bb")
    falls = falling.start("bb")
    check_failed(fails.end(), "bb_setup_BB0000001", "other")
    check_ran_on_pfs(falling, falls.end(), "belongs to other")
    for name in names:
        assert submit_host.buffers()[name].user == "other"
        submit_host.give_back("other", name)


def vanishes(submit_host: SlurmSite, home: Home, planner: str) -> None:
    runner = start(home, "vanished", planner)
    name = runner.reservation("bb")
    journal = runner.submit_dir("bb") / "jobstate.log"
    run = runner.start("bb")
    made = " create_dir_diamond_0_cluster POST_SCRIPT_SUCCESS "
    until(lambda: journal.exists() and made in journal.read_text())
    submit_host.give_back("wfuser", name)
    done = run.end()
    assert done.status == 76, done.err
    assert f"reservation {name} was up and is not there any more" in done.err
    again = runner.run_to_the_end("bb")
    assert again.status == 76, again.err
    assert "is not there any more" in again.err
    assert "--restart" in again.err


def comes_late(submit_host: SlurmSite, home: Home, planner: str) -> None:
    """Meanwhile its user interrupts the command, holds DAGMan and removes it."""
    runner = start(home, "stopped", planner, *PERSISTENT, "--bb-capacity", "900MiB")
    submit = runner.submit_dir("bb")
    # Not jobstate.log: pegasus-monitord may take the release for the end of the run.
    log = submit / "diamond-0.dag.dagman.out"
    first = runner.start("bb")
    status = until(lambda: status_with(runner, "the gate has waited"))
    assert "running (DAGMan, job " in status
    submit_host.run("wfuser", "pkill", "-INT", "-f", f"pegasus_bb run {submit}$")
    left = first.end(30)
    assert left.status == 130
    assert "the workflow goes on under DAGMan, job " in left.err
    number = left.err.split("condor_rm ")[1].split()[0]

    refused = runner.run_to_the_end("bb", "--engine", "local")
    assert refused.status == 2
    assert f"DAGMan works on it as job {number}" in refused.err
    assert runner.run_to_the_end("bb", "--restart").status == 2

    again = runner.start("bb")
    again.until(lambda: f"it works on it already, as job {number}" in again.output())
    runner.ask("condor_hold", number)
    until(lambda: status_with(runner, f"job {number}, held: via condor_hold"))
    again.until(lambda: "DAGMan is held: via condor_hold" in again.output())
    runner.ask("condor_release", number)
    submit_host.give_back("other", "filler")
    until(lambda: "Submitting HTCondor Node mix_A " in log.read_text())
    assert runner.ask("condor_rm", number).status == 0
    stopped = again.end(60)
    assert stopped.status == 130, stopped.err
    assert f"engine: dagman (it works on it already, as job {number})" in stopped.err
    assert "was removed (via condor_rm (by user wfuser))" in stopped.err
    assert "rescue file: diamond-0.dag.rescue001" in stopped.err

    runner.run_well("bb")
    assert runner.content("bb") == expected(jobs=1)
    assert runner.reservation("bb") not in submit_host.buffers()


def status_with(runner: WorkflowRunner, words: str) -> str:
    """The answer of ``status``, once ``words`` are in it."""
    answer = str(runner.bb("status", str(runner.submit_dir("bb"))).out)
    return answer if words in answer else ""


STORIES = (
    is_held,
    is_larger_than_the_pool,
    belongs_to_another_user,
    vanishes,
    comes_late,
)


@pytest.fixture(scope="module", params=PLANNERS)
def started(
    home: Home, planners: None, request: pytest.FixtureRequest
) -> Iterator[dict[str, Future[None]]]:
    submit_host = site_of(home)
    submit_host.hold("other", "filler", 1000 << 20)
    try:
        with ThreadPoolExecutor(len(STORIES)) as pool:
            yield {
                story.__name__: pool.submit(story, submit_host, home, request.param)
                for story in STORIES
                if (home.flavour.plugin, story) != ("lua", is_held)
            }
    finally:
        submit_host.run("root", "condor_rm", "-all")


@pytest.mark.parametrize("story", [story.__name__ for story in STORIES])
def test_a_reservation_that(started: dict[str, Future[None]], story: str) -> None:
    if story not in started:
        pytest.skip("only Slurm with DataWarp holds a request")
    started[story].result(timeout=500)
