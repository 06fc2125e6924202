"""A reservation for each job on the real Slurm of a testbed, under DAGMan."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.engine.journal import read_history
from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PLANNERS, Desk, expected
from tests.testbed.example_desk import SMALL, Example
from tests.testbed.site_hands import Site
from tests.testbed.together import all_told

pytestmark = [pytest.mark.site]
TRANSIENT = ("--bb-mode", "transient", "--cleanup", "none")
LATE = 8  # seconds
TOGETHER = 500.0  # seconds, for all of them side by side


def is_as_on_the_pfs(home: Home, name: str, planner: str) -> None:
    example = Example(home, name, planner)
    example.gives_what_it_gives_on_the_pfs("transient", TOGETHER)


def fails_and_goes_on_later(home: Home, planner: str) -> None:
    """The failed job's space is not kept, though it has made only half a result."""
    desk = Desk(home, "halfway", 2, planner)
    desk.planned("bb", *TRANSIENT)
    desk.trouble.write_text("b.dat")
    failed = desk.run_to_the_end("bb")
    assert failed.status == 80, failed.err
    assert "| mix: the disk on my desk is full" in failed.err
    desk.trouble.unlink()
    assert "mix_A" not in desk.goes_on("bb")
    assert desk.content("bb") == expected(jobs=2)


@pytest.mark.parametrize("planner", PLANNERS)
def test_runs_side_by_side_each_come_to_their_own_end(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    stories = [partial(is_as_on_the_pfs, home, name, planner) for name in SMALL]
    halfway = partial(fails_and_goes_on_later, home, planner)
    all_told([*stories, halfway], 2 * TOGETHER)
    assert not spaces(submit_host)


def spaces(slurm: Site) -> list[str]:
    """The rows of jobs that hold space."""
    said = slurm.run("root", "scontrol", "show", "burst").out
    return [line for line in said.splitlines() if "JobID=" in line]


def mishaps(home: Home, *lines: str) -> None:
    file: Path = home.root / "opt/dw/mishaps"
    file.write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_child_waits_for_a_stage_out_that_takes_its_time(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    desk = Desk(home, "late", 2, planner)
    submit = desk.planned("bb", *TRANSIENT)
    mishaps(home, f"data_out delay={LATE}")
    try:
        done = desk.start("bb").end(TOGETHER)
    finally:
        mishaps(home)
    assert done.status == 0, done.err
    assert desk.content("bb") == expected(jobs=2)
    events = read_history(submit / "jobstate.log").events
    ended = {e.node: e.time for e in events if e.event == "POST_SCRIPT_SUCCESS"}
    begun = {e.node: e.time for e in events if e.event == "SUBMIT"}
    assert begun["mix_B"] >= ended["mix_A"]
    assert not spaces(submit_host)


def test_a_stage_out_that_fails_fails_the_node_and_slurm_keeps_the_data(
    submit_host: Site, home: Home
) -> None:
    desk = Desk(home, "never", 1)
    submit = desk.planned("bb", *TRANSIENT, "-Ddagman.retry=0")
    mishaps(home, "data_out says=dwsd: no route to the PFS")
    try:
        failed = desk.start("bb").end(TOGETHER)
    finally:
        mishaps(home)
    assert failed.status == 80, failed.err
    said = (submit / "bb/stage_out/mix_A.err").read_text()
    assert "no route to the PFS" in said
    assert "mix_A: its results did not come back" in failed.err
    assert "no route to the PFS" in failed.err
    [row] = spaces(submit_host)
    number = row.split("JobID=")[1].split()[0]
    assert f"scancel --hurry {number}" in said
    found = listed(desk)[f"job {number}"]
    assert found["state"] == "staging-out"
    assert "with the results of node mix_A" in found["message"]
    assert "no route to the PFS" in found["message"]
    assert found["next"] == [f"scancel --hurry {number}"]
    kept = desk.bb("gc", "--yes")
    assert "node mix_A is not done, so its results are nowhere else" in kept.out
    assert spaces(submit_host) == [row]
    assert "mix_A" in desk.goes_on("bb")  # it makes them again
    dropped = desk.bb("gc", "--yes", timeout=120.0)
    assert "GIVEN BACK  job" in dropped.out, dropped.out
    assert not spaces(submit_host)
    assert f"job {number}" not in listed(desk)


def listed(desk: Desk) -> dict[str, Any]:
    """What ``ls`` says, by name; other stories leave lines on the ledger, too."""
    rows = json.loads(desk.bb("ls", "--json").out)
    return {row["name"]: row for row in rows}
