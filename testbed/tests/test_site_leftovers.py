"""Reservations that leak on a whole site: DAGMan is killed, then removed; ls and gc."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pegasus_bb_testbed.home import Home

from testbed.tests.slurm_site import ON_SECOND, SlurmSite
from testbed.tests.workflow_runner import PERSISTENT, BackgroundCommand, WorkflowRunner
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_SECOND]
BACKENDS = {"datawarp": "datawarp", "lua": "slurm-lua"}
ENDED = ("failed", "dead: no engine works on it")


def listed(runner: WorkflowRunner) -> dict[str, Any]:
    """What ``ls`` says of the run's reservation; empty where it is not listed."""
    return runner.ls().get(runner.reservation("bb"), {})


def gc(runner: WorkflowRunner, *options: str) -> dict[str, Any]:
    """Its verdict about the run's reservation."""
    done = runner.bb("gc", "--json", *options, timeout=120.0)
    assert done.status == 0, done.err
    name = runner.reservation("bb")
    return next(one for one in json.loads(done.out) if one["name"] == name)


def leak(runner: WorkflowRunner, run: BackgroundCommand) -> None:
    """kill -9 of DAGMan, which schedd would start again, then condor_rm."""
    submit = runner.submit_dir("bb")
    number = until(lambda: listed(runner)["run_words"]).split("job ")[1].rstrip(",")
    found = runner.ask("pgrep", "-f", f"condor_scheduniv_exec.{number}.0")
    assert found.status == 0, "DAGMan is not there"
    assert runner.ask("kill", "-KILL", *found.out.split()).status == 0
    kept = gc(runner, "--yes")
    assert (kept["goes"], listed(runner)["run"]) == (False, "running"), kept
    assert runner.ask("condor_rm", number).status == 0
    assert run.end(120).status == 130
    until(lambda: listed(runner)["run"] in ENDED)
    # DAGMan notes its removal as a failure, if it comes to that.
    ways = {f"pegasus-bb {command} {submit}" for command in ("run", "status")}
    assert ways & set(listed(runner)["next"])


def test_one_with_unsaved_data_stays_and_the_run_goes_on(
    submit_host: SlurmSite, home: Home
) -> None:
    """The second task waits meanwhile, so the run cannot end."""
    runner = WorkflowRunner(home, "unsaved", 2)
    waits = runner.root / "waits"
    task = runner.root / "mix.py"
    wait = f"while out == 'b.dat' and os.path.exists({str(waits)!r}): time.sleep(0.1)"
    task.write_text(task.read_text().replace("time.sleep(0.02)", wait))
    waits.touch()
    runner.planned("bb", *PERSISTENT)
    name = runner.reservation("bb")
    journal = runner.submit_dir("bb") / "jobstate.log"
    run = runner.start("bb")
    made = " mix_A POST_SCRIPT_SUCCESS "
    until(lambda: journal.exists() and made in journal.read_text(), 120)
    leak(runner, run)
    found = listed(runner)
    assert (found["state"], found["backend"]) == (
        "ready",
        BACKENDS[home.flavour.plugin],
    )
    verdict = until(
        lambda: "in the queue" not in (one := gc(runner, "--yes"))["why"] and one
    )
    assert not verdict["goes"]
    assert "promised results are not safe" in verdict["why"]
    assert name in submit_host.buffers()
    assert found["on_ledger"]
    waits.unlink()
    done = runner.run_to_the_end("bb")
    assert done.status == 0, done.err
    assert (listed(runner), name in submit_host.buffers()) == ({}, False)
