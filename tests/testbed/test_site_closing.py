"""A reservation that is given back early, on the real Slurm of a testbed, under DAGMan:
the jobs after it name no buffer, or they would wait for it for ever."""

from __future__ import annotations

import json
from functools import partial

import pytest

import tests.end_to_end.conftest as end_to_end
from pegasus_bb.engine.journal import read_history
from pegasus_bb.runtime.directives import NONE
from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PLANNERS, Desk, Typist
from tests.testbed.example_desk import Example
from tests.testbed.site_hands import Site
from tests.testbed.together import all_told

pytestmark = [pytest.mark.site]
TOGETHER = 500.0  # seconds, for all of them side by side
EARLY = ("--bb-mode", "persistent", "--bb-close", "early")


def ran_without_it(typist: Typist, run: str) -> set[str]:
    """Nodes that were submitted when the reservation had been given back."""
    submit = typist.submit_dir(run)
    noted = json.loads((submit / "bb/reservation.json").read_text())
    assert noted["released_at"]
    events = read_history(submit / "jobstate.log").events
    late = {
        event.node
        for event in events
        if event.event == "SUBMIT" and event.time > noted["released_at"]
        if not event.node.endswith("_local")  # a planner's folder on the submit host
    }
    assert late <= set((submit / "bb/beyond").read_text().split())
    return late


def runs_to_its_end(home: Home, planner: str) -> None:
    desk = Desk(home, "closing", planner=planner)
    desk.planned("bb", *EARLY)
    done = desk.start("bb").end(TOGETHER)
    assert done.status == 0, done.err
    assert desk.content("bb") == end_to_end.expected()
    assert "cleanup_diamond_0_cluster" in ran_without_it(desk, "bb")


def falls_back(home: Home, planner: str) -> None:
    """Then there is nothing to give back, and no job names a buffer."""
    desk = Desk(home, "closing-refused", planner=planner)
    more = ("--bb-fallback", "pfs", "--bb-capacity", "2GiB")  # the pool has half of it
    submit = desk.planned("bb", *EARLY, *more)
    done = desk.start("bb").end(TOGETHER)
    assert done.status == 0, done.err
    assert "ON THE PFS, NOT ON A BURST BUFFER" in done.err
    assert desk.content("bb") == end_to_end.expected()
    assert (submit / "bb/beyond").read_text().split()
    assert (submit / "bb/use.bbf").read_text() == NONE


def an_example_gives_the_same(home: Home, planner: str) -> None:
    example = Example(home, "1000genome", planner)
    example.planned("bb", "--conf", "pegasus.properties", *EARLY)
    example.plan("pfs", "off")
    run = example.start("bb")
    on_pfs = example.run_to_the_end("pfs", "--engine", "local")
    done = run.end(TOGETHER)
    assert on_pfs.status == 0, on_pfs.err
    assert done.status == 0, done.err
    assert example.content("bb") == example.content("pfs") != {}
    assert ran_without_it(example, "bb")


@pytest.mark.parametrize("planner", PLANNERS)
def test_it_is_given_back_early_and_the_results_are_the_same(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    told = [
        partial(story, home, planner)
        for story in (runs_to_its_end, falls_back, an_example_gives_the_same)
    ]
    all_told(told, 2 * TOGETHER)
    assert not submit_host.buffers()
